/** Checking `x-` members against the family's own rules, so that a misspelt or missing one is an error where it stands. */
import { readFileSync } from 'node:fs'
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { Report } from '../diagnostics/diagnostic.ts'
import type { Place } from '../diagnostics/place.ts'
import type { Api, Extensions } from '../ir/model.ts'
import { walk } from '../ir/walk.ts'

type Kind = 'document' | 'info' | 'tag' | 'operation' | 'event' | 'parameter' | 'schema'
type Rules = Partial<Record<Kind, Rule>>
/** @returns what is wrong with the `x-` members of a node; the same for the same members. */
type Rule = (extensions: Extensions) => readonly ErrorObject[]

/** @param file one JSON Schema per kind of node (`document`, `info`, `tag`, `operation`, `event`, `parameter`, `schema`), each of the object of its `x-` members. */
export function checkExtensions(apis: readonly Api[], file: string, report: Report): void {
  const ajv = new Ajv2020({ allErrors: true, strict: false })
  const rules: Rules = {}
  const schemas = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  for (const kind of ['document', 'info', 'tag', 'operation', 'event', 'parameter', 'schema'] as const) {
    const schema = schemas[kind]
    if (typeof schema === 'object' && schema !== null) rules[kind] = remembering(ajv.compile(schema))
  }
  for (const api of apis) checkApi(api, rules, report)
}

/** Thousands of nodes have the same few members, most of them none. */
function remembering(validate: ValidateFunction): Rule {
  const known = new Map<string, readonly ErrorObject[]>()
  return (extensions) => {
    const key = JSON.stringify(extensions)
    const errors = known.get(key) ?? (validate(extensions) ? [] : (validate.errors ?? []))
    known.set(key, errors)
    return errors
  }
}

function checkApi(api: Api, rules: Rules, report: Report): void {
  const check = (kind: Kind, owner: string, place: Place, extensions: Extensions) => {
    for (const error of rules[kind]?.(extensions) ?? []) report.add(explainError(error, kind, owner, place))
  }
  check('document', 'the document', { file: api.file, line: 1, column: 1, pointer: '' }, api.extensions)
  check('info', 'info', api.place, api.info)
  for (const tag of api.tags) check('tag', `the tag ${tag.name}`, api.place, tag.extensions)
  for (const operation of api.operations) {
    check('operation', operation.id, operation.place, operation.extensions)
    for (const each of operation.parameters)
      check('parameter', `the parameter ${each.name}`, each.place, each.extensions)
  }
  for (const event of api.events) check('event', event.name, event.place, event.extensions)
  for (const [name, schema] of api.schemas)
    walk(schema, (each) => check('schema', name, each.place, each.extensions))
}

function explainError(error: ErrorObject, kind: Kind, owner: string, place: Place) {
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
      `${owner} has an unknown extension ${name}`,
      'correct its name or remove it',
    )
  }
  const name = instancePath.slice(1) || owner
  const allowed = Array.isArray(params.allowedValues) ? `: ${params.allowedValues.join(', ')}` : ''
  return located(
    'extension-invalid',
    place,
    `${name} of ${owner} ${error.message ?? 'is invalid'}${allowed}`,
    'correct its value',
  )
}

function located(code: string, place: Place, message: string, hint: string) {
  return { code, severity: 'error', place, message, hint } as const
}
