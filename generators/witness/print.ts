/** Prints a verdict: a request as a curl command, an answer or event as its content. */
import { writeParameter } from '../client-runtime/parameters.ts'
import type { PrintedVerdict, PrintedWitness } from '../diagnostics/verdict.ts'
import { printCommand, quote } from '../emit/reference/curl.ts'
import { serverOf } from '../emit/reference/request.ts'
import { credentialOf } from '../emit/wire/credential.ts'
import { parameterRow } from '../emit/wire/parameters.ts'
import { essenceOf, isJson } from '../ir/media-type.ts'
import type { Api, ApiOperation, ApiParameter } from '../ir/model.ts'
import type { WitnessMessage } from './message.ts'
import type { Witness } from './proof.ts'
import type { ValuePath } from './route.ts'
import type { Verdict } from './witness.ts'

/** Returns a verdict as data. */
export function toPrinted(verdict: Verdict): PrintedVerdict {
  const { kind } = verdict
  return kind === 'proven'
    ? { verdict: kind, witness: toWitness(verdict.witness) }
    : { verdict: kind, reason: verdict.reason }
}

function toWitness({ message, by, against, focus, reason }: Witness): PrintedWitness {
  const { kind, operation, event, status = '', body } = message
  const route = operation ? `${operation.method} ${operation.path}` : ''
  const [accepter, other] = namesOf(by, against)
  const texts = kind === 'request' ? {} : textsOf(by, message, 'header')
  return {
    kind,
    message:
      event !== undefined ? `event ${event}` : kind === 'answer' ? `${route} answers ${status}` : route,
    ...(kind === 'request' && operation && { curl: curlOf(by, operation, message) }),
    ...(Object.keys(texts).length > 0 && { headers: texts }),
    ...(body !== undefined && { body, excerpt: excerptOf(body, focus) }),
    acceptedBy: accepter,
    against: other,
    reason,
  }
}

/** Documents of the same version are told apart by their files. */
function namesOf(a: Api, b: Api): [string, string] {
  return a.version === b.version ? [a.file, b.file] : [a.version, b.version]
}

/** Longest body that is shown whole. */
const LONG = 160

/** Returns a body as JSON; of a long one, the part at the focus and what leads to it. */
function excerptOf(body: unknown, focus: ValuePath): string {
  const whole = JSON.stringify(body)
  return whole.length <= LONG ? whole : shorten(body, focus)
}

function shorten(value: unknown, [first, ...rest]: ValuePath): string {
  const whole = JSON.stringify(value)
  if (whole.length <= LONG || typeof value !== 'object' || value === null) return whole
  const all = Object.entries(value)
  const [name, inside] = all.find(([each]) => each === String(first)) ?? []
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  if (name === undefined) return `${open}…${close}`
  const others = all.length > 1 ? ', …' : ''
  return `${open}${Array.isArray(value) ? '' : `${JSON.stringify(name)}:`}${shorten(inside, rest)}${others}${close}`
}

const ANY_SERVER = 'https://api.example.com'

function curlOf(api: Api, operation: ApiOperation, message: WitnessMessage): string {
  const path = Object.entries(textsOf(api, message, 'path')).reduce(
    (filled, [name, text]) => filled.replace(`{${name}}`, () => text),
    operation.path,
  )
  const query = Object.values(textsOf(api, message, 'query')).filter((text) => text !== '')
  const cookie = Object.values(textsOf(api, message, 'cookie')).join('; ')
  const command = printCommand({
    method: operation.method,
    url: `${serverOf(api, operation) || ANY_SERVER}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    credential: credentialOf(api, operation),
    headers: { ...textsOf(api, message, 'header'), ...(cookie !== '' && { cookie }) },
    body: undefined,
  })
  return [command.replaceAll(' \\\n ', ''), ...bodyOf(message)].join(' ')
}

function bodyOf({ mediaType, body }: WitnessMessage): string[] {
  if (mediaType === undefined) return []
  const data = typeof body === 'string' && !isJson(mediaType) ? body : JSON.stringify(body)
  return essenceOf(mediaType) === 'application/json'
    ? [`--json ${quote(data)}`]
    : [`-H ${quote(`Content-Type: ${mediaType}`)}`, `--data ${quote(data)}`]
}

function textsOf(
  api: Api,
  { values }: WitnessMessage,
  where: ApiParameter['in'],
): Readonly<Record<string, string>> {
  const own = [...values].filter(([parameter]) => parameter.in === where)
  return Object.fromEntries(
    own.map(([parameter, value]) => [
      parameter.name,
      writeParameter(parameterRow(api, parameter), value) ?? '',
    ]),
  )
}
