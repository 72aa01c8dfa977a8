import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'

interface Document {
  readonly paths: Record<string, Record<string, { responses?: Record<string, unknown> }>>
}

interface Contract {
  readonly document: Document
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
  const contract = { document, ajv, checks: new Map() }
  contracts.set(version, contract)
  return contract
}

const escapeToken = (token: string) =>
  token.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')

/** Returns the segment unchanged if it is not valid percent-encoding, because it then matches no path. */
function decode(segment: string): string {
  return /^(?:[^%]|%[0-7][0-9a-f])*$/i.test(segment) ? decodeURIComponent(segment) : segment
}

/** Returns the path template that matches a request path. Literal segments take precedence over parameters. */
function pathOf(document: Document, path: string): string | undefined {
  const fits = Object.keys(document.paths).filter((template) => {
    const [a, b] = [template.split('/'), path.split('/').map(decode)]
    return (
      a.length === b.length && a.every((segment, index) => segment.startsWith('{') || segment === b[index])
    )
  })
  return fits.sort((a, b) => a.split('{').length - b.split('{').length)[0]
}

/** Returns the JSON pointer of the response schema: that of the operation, or that of errors. */
function pointerOf(document: Document, method: string, path: string, status: number): string {
  const template = pathOf(document, path)
  const responses = template && document.paths[template]?.[method.toLowerCase()]?.responses
  const response = responses ? responses[String(status)] : undefined
  if (!template || !response) return '/components/schemas/Error'
  const ref = (response as { $ref?: string }).$ref
  const base = ref
    ? ref.slice(1)
    : `/paths/${escapeToken(template)}/${method.toLowerCase()}/responses/${status}`
  return `${base}/content/application~1json/schema`
}

/**
 * Validates a response against the document of its version. Returns the violations; empty if there are none. A success
 * status that the document does not describe is a violation.
 */
export function checkAnswer(
  version: string,
  request: { readonly method: string; readonly path: string },
  status: number,
  body: unknown,
): string[] {
  const pointer = pointerOf(contractOf(version).document, request.method, request.path, status)
  if (status < 400 && pointer.endsWith('/Error')) return [`${status} is not described`]
  return checkAgainst(version, pointer, body)
}

/** Validates an event against the document of its version. Returns the violations. */
export function checkEvent(event: { readonly version: string; readonly type: string }): string[] {
  const pointer = `/webhooks/${escapeToken(event.type)}/post/requestBody/content/application~1json/schema`
  return checkAgainst(event.version, pointer, event)
}

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
