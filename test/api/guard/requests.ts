import type { ServiceOperation } from '../../../runtime/api/version-table.ts'
import { PARAMETER_TEXTS, spoil } from './faults.ts'
import type { Random } from './random.ts'
import { type Document, makeValue, type Schema } from './values.ts'

/** A request as it goes over the wire. */
export interface Case {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | undefined
}

interface DescribedParameter {
  readonly $ref?: string
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Schema
}

interface DescribedOperation {
  readonly parameters?: readonly DescribedParameter[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
}

/** A version's document, as far as requests go. */
export interface RequestDocument extends Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components: Document['components'] & {
    readonly parameters: Readonly<Record<string, DescribedParameter>>
  }
}

/** Everything that the document says of an operation's request. */
export interface Described {
  readonly parameters: readonly DescribedParameter[]
  readonly body: Schema | undefined
}

export function describeRequest(document: RequestDocument, { method, path }: ServiceOperation): Described {
  const item = document.paths[path]
  const operation = item?.[method.toLowerCase()]
  if (!item || !operation) throw new Error(`the document has no ${method} ${path}`)
  const shared = (item as { parameters?: readonly DescribedParameter[] }).parameters ?? []
  const parameters = [...shared, ...(operation.parameters ?? [])].map((parameter) =>
    parameter.$ref === undefined
      ? parameter
      : document.components.parameters[parameter.$ref.slice('#/components/parameters/'.length)]!,
  )
  return { parameters, body: operation.requestBody?.content['application/json'].schema }
}

const KEY = '0197905f-2f6c-7d3e-8a41-5b6c7d8e9fa0'

const KEYS = ['', 'x', KEY.toUpperCase(), `urn:uuid:${KEY}`, KEY.replaceAll('-', ''), `${KEY}, ${KEY}`]

const TYPES = [
  'text/plain',
  'application/json; charset=utf-8',
  'application/xml',
  'application/json;charset=latin1',
]

const RAW = ['', ' ', '{', 'nul', '{}', '[]', 'null', '"a"', '1', '{"a":1}']

/** One request for the operation: about a third are as described, the others have one fault or two. */
export function makeCase(
  document: RequestDocument,
  { method, path }: ServiceOperation,
  { parameters, body }: Described,
  random: Random,
): Case {
  const faulty = () => random.chance(0.25)
  const textOf = ({ schema }: DescribedParameter) => String(makeValue(document, schema, random))
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  const wrongPath = inPath.length > 0 && random.chance(0.08)
  const names = new Map(
    inPath.map((parameter) => [
      parameter.name,
      wrongPath ? spoilText(textOf(parameter), random) : textOf(parameter),
    ]),
  )
  const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names.get(name) ?? ''))
  const pairs = inQuery
    .filter(({ required }) => required || random.chance(0.25))
    .map((parameter) => [parameter.name, faulty() ? random.pick(PARAMETER_TEXTS) : textOf(parameter)])
  if (inQuery.length > 0 && random.chance(0.08))
    pairs.push([random.pick(['extra', 'created[gte][x]', 'Limit', 'limit[]']), '1'])
  if (pairs.length > 0 && random.chance(0.08)) pairs.push([pairs[0]![0]!, random.pick([pairs[0]![1]!, '1'])])
  const search = pairs
    .map(([name, text]) => `${encodeURIComponent(name!)}=${encodeURIComponent(text!)}`)
    .join('&')
  const headers: Record<string, string> = {}
  if (method === 'POST' && !random.chance(0.06))
    headers['idempotency-key'] = random.chance(0.08) ? random.pick(KEYS) : KEY
  const sandbox = parameters.find(({ name }) => name === 'Service-Sandbox-Authorization')
  if (sandbox && random.chance(0.9)) headers['service-sandbox-authorization'] = textOf(sandbox)
  const text = method === 'GET' ? undefined : makeText(document, body, random)
  if (text !== undefined && text !== '') {
    headers['content-type'] = random.chance(0.05) ? random.pick(TYPES) : 'application/json'
    headers['content-length'] = String(Buffer.byteLength(text))
  }
  return { method, target: search === '' ? target : `${target}?${search}`, headers, text }
}

function spoilText(text: string, random: Random): string {
  return random.pick([
    `${text}x`,
    text.slice(0, -1),
    text.toUpperCase(),
    `x${text}`,
    'x',
    ' ',
    `${text} `,
    'a/b',
  ])
}

function makeText(document: Document, body: Schema | undefined, random: Random): string | undefined {
  if (random.chance(0.03)) return random.pick(RAW)
  if (!body) return random.chance(0.5) ? undefined : random.pick(['{}', '{"a":1}', '[]', 'null', '1'])
  let value = makeValue(document, body, random)
  for (let faults = random.below(3); faults > 0; faults -= 1) value = spoil(value, random)
  return JSON.stringify(value)
}
