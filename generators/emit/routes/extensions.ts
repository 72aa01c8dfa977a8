/**
 * Emits the types of `x-` members in operation tables, from the family's extension rules or from the values in the
 * documents.
 */
import type { ExtensionRules } from '../../ir/extension-rules.ts'
import type { Api, Extensions } from '../../ir/model.ts'
import { camelCase } from '../../ir/naming.ts'
import { createFile } from '../../print/file.ts'
import { literal, propertyKey } from '../../print/literal.ts'

/** Name of the file. */
export const EXTENSIONS_FILE = 'extensions.ts'

/** Returns a member's name in generated tables: `x-rate-limit` → `rateLimit`. */
export const extensionKey = (name: string): string => camelCase(name.slice('x-'.length))

/** @param rules extension rules of the family; without them, types are derived from the values in the documents. */
export function printExtensionTypes(apis: readonly Api[], rules?: ExtensionRules): string {
  const { operation, canonicalOperation, schema, info } = rules?.schemas ?? {}
  const inherited = membersOf(schema).filter(({ key }) => rules?.inherited.has(key))
  const declared = [...membersOf(operation), ...membersOf(canonicalOperation), ...inherited]
  const operations = apis.flatMap((api) => api.operations.map((each) => each.extensions))
  const file = createFile(['OperationExtensions', 'VersionExtensions'])
  file.print('/** Extensions (`x-` members) of an operation. */')
  file.print(...printMembers('OperationExtensions', operation ? declared : seenIn(operations)), '')
  file.print('/** Extensions (`x-` members) of a version. */')
  file.print(
    ...printMembers('VersionExtensions', info ? membersOf(info) : seenIn(apis.map((each) => each.info))),
  )
  return file.text()
}

function printMembers(name: string, members: readonly ExtensionMember[]): string[] {
  return [
    `export interface ${name} {`,
    ...members.map(
      ({ key, type, required }) =>
        `  readonly ${propertyKey(extensionKey(key))}${required ? '' : '?'}: ${type}`,
    ),
    '}',
  ]
}

interface ExtensionMember {
  readonly key: string
  readonly type: string
  readonly required: boolean
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the extensions that a rule declares. */
function membersOf(rule: unknown): ExtensionMember[] {
  if (!isRecord(rule) || !isRecord(rule.properties)) return []
  const required = Array.isArray(rule.required) ? rule.required : []
  return Object.entries(rule.properties)
    .filter(([key]) => key.startsWith('x-'))
    .map(([key, schema]) => ({ key, type: typeOfRule(schema), required: required.includes(key) }))
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
}

function typeOfRule(schema: unknown): string {
  if (!isRecord(schema)) return 'unknown'
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => literal(value)).join(' | ')
  if ('const' in schema) return literal(schema.const)
  if (schema.type === 'array') return `readonly (${typeOfRule(schema.items)})[]`
  return TYPES[String(schema.type)] ?? 'unknown'
}

/** Derives members from values. A member is required if every node has it. */
function seenIn(nodes: readonly Extensions[]): ExtensionMember[] {
  const types = new Map<string, Set<string>>()
  for (const node of nodes) {
    for (const [key, value] of Object.entries(node)) {
      const type = TYPES[typeof value] ?? 'unknown'
      types.set(key, (types.get(key) ?? new Set()).add(type))
    }
  }
  return [...types].map(([key, all]) => ({
    key,
    type: all.has('unknown') ? 'unknown' : [...all].sort().join(' | '),
    required: nodes.every((node) => Object.hasOwn(node, key)),
  }))
}
