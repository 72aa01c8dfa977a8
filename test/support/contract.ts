import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

interface Response {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, unknown>>
}

interface Document {
  readonly paths: Record<string, Record<string, { responses?: Record<string, Response> }>>
  readonly components: { readonly responses: Record<string, Response> }
}

interface Contract {
  readonly document: Document
  /** Segments of the path templates. Literal segments take precedence over parameters. */
  readonly templates: readonly (readonly [template: string, segments: readonly string[]])[]
  readonly ajv: Ajv2020
  readonly checks: Map<string, ValidateFunction>
}

const contracts = new Map<string, Contract>()

function contractOf(version: string): Contract {
  const known = contracts.get(version)
  if (known) return known
  const file = new URL(`../../generated/${version}/openapi.json`, import.meta.url)
  const document = JSON.parse(readFileSync(file, 'utf8')) as Document
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema({ ...document, $id: `document:${version}` })
  const templates = Object.keys(document.paths)
    .toSorted((a, b) => a.split('{').length - b.split('{').length)
    .map((template) => [template, template.split('/')] as const)
  const contract = { document, templates, ajv, checks: new Map() }
  contracts.set(version, contract)
  return contract
}

const escapeToken = (token: string) =>
  token.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')

/** Returns the segment unchanged if it is not valid percent-encoding, because it then matches no path. */
function decode(segment: string): string {
  return /^(?:[^%]|%[0-7][0-9a-f])*$/i.test(segment) ? decodeURIComponent(segment) : segment
}

/** Returns the path template that matches a request path. */
function templateOf({ templates }: Contract, path: string): string | undefined {
  const wanted = path.split('/').map(decode)
  const fits = (segment: string, index: number) => segment.startsWith('{') || segment === wanted[index]
  return templates.find(([, segments]) => segments.length === wanted.length && segments.every(fits))?.[0]
}

const JSON_TYPE = 'application/json'

/** The response of the operation, and where the document describes it. */
function findResponse(
  document: Document,
  template: string,
  method: string,
  status: number,
): { readonly pointer: string; readonly response: Response } | undefined {
  const verb = method.toLowerCase()
  const response = document.paths[template]?.[verb]?.responses?.[String(status)]
  if (response?.$ref === undefined) {
    const pointer = `/paths/${escapeToken(template)}/${verb}/responses/${status}`
    return response && { pointer, response }
  }
  const name = response.$ref.split('/').at(-1)!
  return { pointer: response.$ref.slice(1), response: document.components.responses[name]! }
}

/**
 * Validates a response against the document of its version. Returns the violations; empty if there are none. A status
 * that the operation does not describe is a violation, except failures (5xx), which may happen to every operation. Those,
 * and what is answered where there is no operation, are errors.
 *
 * @param body undefined if there is none, or none in JSON.
 */
export function checkAnswer(
  version: string,
  request: { readonly method: string; readonly path: string },
  status: number,
  body: unknown,
): string[] {
  const contract = contractOf(version)
  const { document } = contract
  const template = templateOf(contract, request.path)
  const found = template === undefined ? undefined : findResponse(document, template, request.method, status)
  if (found) {
    const { pointer, response } = found
    const isJson = response.content === undefined || JSON_TYPE in response.content
    if (body === undefined) return response.content && isJson ? ['the body is missing'] : []
    if (response.content === undefined) return ['there is a body']
    return isJson ? checkAgainst(version, `${pointer}/content/${escapeToken(JSON_TYPE)}/schema`, body) : []
  }
  const hasOperation = document.paths[template ?? '']?.[request.method.toLowerCase()] !== undefined
  if (status < 400 || (hasOperation && status < 500)) return [`${status} is not described`]
  return checkAgainst(version, '/components/schemas/Error', body)
}

/** Validates an event against the document of its version. Returns the violations. */
export function checkEvent(event: { readonly version: string; readonly type: string }): string[] {
  const pointer = `/webhooks/${escapeToken(event.type)}/post/requestBody/content/application~1json/schema`
  return checkAgainst(event.version, pointer, event)
}

/** Validates a question to an authorization endpoint against the document of its version. Returns the violations. */
export const checkQuestion = (question: { readonly version: string }): string[] =>
  checkAgainst(question.version, '/components/schemas/AuthorizationRequest', question)

function checkAgainst(version: string, pointer: string, value: unknown): string[] {
  const { ajv, checks } = contractOf(version)
  let check = checks.get(pointer)
  if (!check) {
    check = ajv.compile({ $ref: `document:${version}#${pointer}` })
    checks.set(pointer, check)
  }
  if (check(value)) return []
  return (check.errors ?? []).map((error) => `${error.instancePath} ${error.message}`)
}
