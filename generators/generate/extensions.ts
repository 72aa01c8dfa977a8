/**
 * Checks `x-` members against the family's own rules, so that a misspelled or missing one is an error at its
 * location.
 */
import { readFileSync } from 'node:fs'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Report } from '../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import { type ExtensionKind, type ExtensionRules, KINDS } from '../ir/extension-rules.ts'
import type { Api, ApiOperation, Extensions } from '../ir/model.ts'
import { walk } from '../ir/walk.ts'

type Rules = Partial<Record<ExtensionKind, ExtensionRule>>
/** Returns the errors of a node's `x-` members; cached by their content. */
type ExtensionRule = (members: Extensions) => readonly ErrorObject[]

/**
 * Reads the extension rules of a family.
 *
 * @param file one JSON Schema per kind of node (`document`, `info`, `tag`, `operation`, `event`, `parameter`,
 * `schema`), each for the object of its `x-` members. `canonicalOperation` is for the members of an operation that
 * only the newest document declares, for all versions; it also sees the operation's `method`. A member of `schema`
 * with `"inheritedBy": "operation"` also applies to operations that respond with that schema.
 */
export function readExtensionRules(file: string | undefined): ExtensionRules {
  if (file === undefined) return { schemas: {}, canonical: new Set(), inherited: new Set() }
  const schemas = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  return {
    schemas,
    canonical: new Set([...propertiesOf(schemas.canonicalOperation).keys()].filter(isExtension)),
    inherited: new Set(
      [...propertiesOf(schemas.schema)].flatMap(([name, rule]) =>
        typeof rule === 'object' && rule !== null && 'inheritedBy' in rule ? [name] : [],
      ),
    ),
  }
}

const isExtension = (name: string): boolean => name.startsWith('x-')

function propertiesOf(schema: unknown): ReadonlyMap<string, unknown> {
  if (typeof schema !== 'object' || schema === null || !('properties' in schema)) return new Map()
  return new Map(Object.entries(schema.properties as object))
}

/**
 * Checks the `x-` members of all versions.
 *
 * @param apis oldest first.
 */
export function checkExtensions(apis: readonly Api[], family: ExtensionRules, report: Report): void {
  const ajv = new Ajv2020({ allErrors: true, strict: false })
  const rules: Rules = {}
  for (const kind of KINDS) {
    const schema = family.schemas[kind]
    if (typeof schema === 'object' && schema !== null) rules[kind] = remembering(ajv.compile(schema))
  }
  for (const api of apis) checkApi(api, rules, family, report)
  for (const operation of apis.at(-1)?.operations ?? []) {
    const members = { method: operation.method, ...pick(operation, (name) => family.canonical.has(name)) }
    for (const error of rules.canonicalOperation?.(members) ?? [])
      report.add(explainError(error, 'operation', operation.id, operation.place))
  }
}

/** Caches results, because thousands of nodes have the same few members or none. */
function remembering(validate: ValidateFunction): ExtensionRule {
  const known = new Map<string, readonly ErrorObject[]>()
  return (members) => {
    const key = JSON.stringify(members)
    // ajv also reports an error for the `if` keyword itself; the errors inside the condition's parts are enough.
    const errors =
      known.get(key) ??
      (validate(members) ? [] : (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if'))
    known.set(key, errors)
    return errors
  }
}

function pick({ extensions }: ApiOperation, wanted: (name: string) => boolean): Extensions {
  return Object.fromEntries(Object.entries(extensions).filter(([name]) => wanted(name)))
}

function checkApi(api: Api, rules: Rules, { canonical }: ExtensionRules, report: Report): void {
  const check = (kind: ExtensionKind, owner: string, place: SourceLocation, extensions: Extensions) => {
    for (const error of rules[kind]?.(extensions) ?? []) report.add(explainError(error, kind, owner, place))
  }
  check('document', 'the document', { file: api.file, line: 1, column: 1, pointer: '' }, api.extensions)
  check('info', 'info', api.place, api.info)
  for (const tag of api.tags) check('tag', `the tag ${tag.name}`, api.place, tag.extensions)
  for (const operation of api.operations) {
    const own = canonical.size === 0 ? operation.extensions : pick(operation, (name) => !canonical.has(name))
    check('operation', operation.id, operation.place, own)
    for (const each of operation.parameters)
      check('parameter', `the parameter ${each.name}`, each.place, each.extensions)
  }
  for (const event of api.events) check('event', event.name, event.place, event.extensions)
  for (const [name, schema] of api.schemas)
    walk(schema, (each) => check('schema', name, each.place, each.extensions))
}

function explainError(error: ErrorObject, kind: ExtensionKind, owner: string, place: SourceLocation) {
  const { keyword, params, instancePath } = error
  if (keyword === 'required') {
    const name = String(params.missingProperty)
    return located(
      `${kind}-without-${name.slice(2)}`,
      place,
      `${owner} declares no ${name}`,
      `add \`${name}: …\``,
    )
  }
  if (keyword === 'additionalProperties') {
    const name = String(params.additionalProperty)
    return located(
      'extension-unknown',
      place,
      `${owner} has the unknown extension ${name}`,
      'correct its name or remove it',
    )
  }
  const name = instancePath.slice(1) || owner
  if (keyword === 'false schema')
    return located('extension-misplaced', place, `${owner} must not have ${name}`, 'remove it')
  const allowed = Array.isArray(params.allowedValues) ? `: ${params.allowedValues.join(', ')}` : ''
  return located(
    'extension-invalid',
    place,
    `${name} of ${owner} ${error.message ?? 'is invalid'}${allowed}`,
    'correct its value',
  )
}

function located(code: string, place: SourceLocation, message: string, hint: string) {
  return { code, severity: 'error', place, message, hint } as const
}
