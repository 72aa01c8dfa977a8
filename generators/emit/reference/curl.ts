/** Prints a request as a curl command. */
import { essenceOf } from '../../ir/media-type.ts'
import type { ApiOperation } from '../../ir/model.ts'
import type { WireCredential } from '../wire/credential.ts'
import { fillGiven, hasGiven } from './given.ts'
import type { ReferencePage } from './page.ts'
import { formFields, type SampleBody, sampleRequest } from './request.ts'
import { sampleResponse } from './sample.ts'

/** The parts of a curl command. */
export interface Command {
  readonly method: string
  readonly url: string
  readonly credential: WireCredential | undefined
  /** Headers other than the credential, in order. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: SampleBody | undefined
}

export function curlOf(page: ReferencePage, operation: ApiOperation): string {
  const { url, headers, credential, body } = sampleRequest(page, operation)
  const { versionHeader } = page.wire
  const version = versionHeader === undefined ? {} : { [versionHeader]: page.api.version }
  const { method } = operation
  const command = printCommand({ method, url, credential, headers: { ...version, ...headers }, body })
  return page.keep === undefined ? command : keepId(command, page, operation, page.keep)
}

/**
 * Returns commands that print the response and store its `id` in a shell variable.
 *
 * @throws if the example response has no `id`.
 */
function keepId(
  command: string,
  { api }: ReferencePage,
  { id, responses }: ApiOperation,
  variable: string,
): string {
  const answer = sampleResponse(api, responses)?.value as { readonly id?: unknown } | undefined
  const prefix = /^[a-z]+_/.exec(String(answer?.id))?.[0]
  if (prefix === undefined) throw new Error(`the example response of ${id} has no id to store in ${variable}`)
  return [
    `answer=$(${command})`,
    `printf '%s\\n' "$answer"`,
    `export ${variable}=$(printf '%s' "$answer" | grep -o '${prefix}[0-9a-z]*' | head -n 1)`,
  ].join('\n')
}

/** Prints a command with one option on each line, so that one change affects one line. */
export function printCommand({ method, url, credential, headers, body }: Command): string {
  const lines = [
    `curl ${quote(url)}`,
    ...(method === 'GET' || (method === 'POST' && body) ? [] : [`-X ${method}`]),
    ...(credential ? [`-H ${quoteCredential(credential)}`] : []),
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
  return Object.entries(formFields(value)).map(
    ([name, each]) => `--data-urlencode ${quote(`${name}=${each}`)}`,
  )
}

/** Generates a UUID in any POSIX shell: macOS has the first command, and Linux has at least the second. */
const UUID = '$(uuidgen 2>/dev/null || cat /proc/sys/kernel/random/uuid)'

const printGiven = (name: string | undefined): string => (name === undefined ? UUID : `$${name}`)

/**
 * Quotes a text for a POSIX shell. Uses single quotes, in which nothing is special, and double quotes only for
 * variables.
 */
export function quote(text: string): string {
  if (hasGiven(text) && !/["$`\\]/.test(text)) return `"${fillGiven(text, printGiven)}"`
  const single = `'${text.replaceAll("'", `'\\''`)}'`
  return fillGiven(single, (name) => `'"${printGiven(name)}"'`)
}

/** Puts the credential in double quotes and escapes it so that the shell expands only the key. */
export function quoteCredential({ header, prefix }: WireCredential): string {
  return `"${header.replace(/["$`\\]/g, '\\$&')}: ${prefix}$API_KEY"`
}
