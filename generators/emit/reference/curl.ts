/** A request as a command that can be pasted. */
import { essenceOf, isJson } from '../../ir/media-type.ts'
import type { Operation, Parameter } from '../../ir/model.ts'
import { type Credential, credentialOf } from '../client/credential.ts'
import type { Page } from './page.ts'
import { sampleContent, sampleParameter } from './sample.ts'

/** @returns one option a line, so that an edit of one thing changes one line. */
export function curlOf(page: Page, operation: Operation): string {
  const { method, body } = operation
  const content = body?.required ? body.contents[0] : undefined
  const sample = content && sampleContent(page.api, content)
  const lines = [
    `curl ${quote(urlOf(page, operation))}`,
    ...(method === 'GET' || (method === 'POST' && sample !== undefined) ? [] : [`-X ${method}`]),
    ...headersOf(page, operation).map((header) => `-H ${header}`),
    ...(content && sample !== undefined ? bodyOf(content.mediaType, sample) : []),
  ]
  return lines.join(' \\\n  ')
}

function urlOf(page: Page, { path, parameters }: Operation): string {
  const base = page.api.servers[0]?.url.replace(/\/$/, '') ?? ''
  const value = (parameter: Parameter) =>
    encodeURIComponent(show(sampleParameter(page.api, parameter)).toWellFormed())
  const filled = path.replace(/\{([^}]+)\}/g, (braced, name) => {
    const parameter = parameters.find((each) => each.in === 'path' && each.name === name)
    return parameter ? value(parameter) : braced
  })
  const query = parameters
    .filter((each) => each.in === 'query' && each.required)
    .map((each) => `${encodeURIComponent(each.name.toWellFormed())}=${value(each)}`)
  return `${base}${filled}${query.length > 0 ? `?${query.join('&')}` : ''}`
}

/** @returns headers as the shell reads them. */
function headersOf(page: Page, { parameters, security }: Operation): string[] {
  const credential = security.length > 0 ? credentialOf(page.api) : undefined
  const { versionHeader } = page.wire
  const required = parameters.filter(
    (each) => each.in === 'header' && each.required && each.name !== versionHeader,
  )
  return [
    ...(credential ? [quoteCredential(credential)] : []),
    ...(versionHeader === undefined ? [] : [quote(`${versionHeader}: ${page.api.version}`)]),
    ...required.map((each) => quote(`${each.name}: ${show(sampleParameter(page.api, each))}`)),
  ]
}

function bodyOf(mediaType: string, sample: unknown): string[] {
  if (essenceOf(mediaType) === 'application/json') return [`--json ${quote(JSON.stringify(sample, null, 2))}`]
  const type = `-H ${quote(`Content-Type: ${mediaType}`)}`
  if (isJson(mediaType)) return [type, `--data ${quote(JSON.stringify(sample, null, 2))}`]
  if (essenceOf(mediaType) === 'application/x-www-form-urlencoded' && typeof sample === 'object') {
    return Object.entries(sample ?? {}).map(
      ([name, value]) => `--data-urlencode ${quote(`${name}=${show(value)}`)}`,
    )
  }
  return [type, '--data-binary @FILE']
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** For a POSIX shell: nothing within single quotes is special. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** In double quotes, where the shell fills in the key and leaves everything else alone. */
function quoteCredential({ header, prefix }: Credential): string {
  return `"${header.replace(/["$`\\]/g, '\\$&')}: ${prefix}$API_KEY"`
}
