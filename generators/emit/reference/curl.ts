/** A request as a command that can be pasted. */
import { essenceOf } from '../../ir/media-type.ts'
import type { Operation } from '../../ir/model.ts'
import type { Credential } from '../wire/credential.ts'
import type { Page } from './page.ts'
import { type SampleBody, sampleRequest, show } from './request.ts'

/** @returns one option a line, so that an edit of one thing changes one line. */
export function curlOf(page: Page, operation: Operation): string {
  const { method } = operation
  const { url, headers, credential, body } = sampleRequest(page, operation)
  const { versionHeader } = page.wire
  const lines = [
    `curl ${quote(url)}`,
    ...(method === 'GET' || (method === 'POST' && body) ? [] : [`-X ${method}`]),
    ...(credential ? [`-H ${quoteCredential(credential)}`] : []),
    ...(versionHeader === undefined ? [] : [`-H ${quote(`${versionHeader}: ${page.api.version}`)}`]),
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body ? bodyOf(body) : []),
  ]
  return lines.join(' \\\n  ')
}

function bodyOf({ mediaType, kind, value }: SampleBody): string[] {
  const json = JSON.stringify(value, null, 2)
  if (essenceOf(mediaType) === 'application/json') return [`--json ${quote(json)}`]
  const type = `-H ${quote(`Content-Type: ${mediaType}`)}`
  if (kind === 'json') return [type, `--data ${quote(json)}`]
  if (kind === 'bytes') return [type, '--data-binary @FILE']
  return Object.entries(value ?? {}).map(
    ([name, each]) => `--data-urlencode ${quote(`${name}=${show(each)}`)}`,
  )
}

/** For a POSIX shell: nothing within single quotes is special. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** In double quotes, where the shell fills in the key and leaves everything else alone. */
export function quoteCredential({ header, prefix }: Credential): string {
  return `"${header.replace(/["$`\\]/g, '\\$&')}: ${prefix}$API_KEY"`
}
