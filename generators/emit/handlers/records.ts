/**
 * Emits tables of records with an identifier and of equality filter values, so that the service does not maintain
 * them by hand.
 */
import { enumMembers } from '../../ir/members.ts'
import type { Api, ApiOperation, OutputFile } from '../../ir/model.ts'
import { recordsOf } from '../../ir/records.ts'
import { createFile } from '../../print/file.ts'
import { literal, propertyKey } from '../../print/literal.ts'

/** Emits nothing for a document without such records and equality filters. */
export function emitRecords(newest: Api): OutputFile[] {
  const records = recordsOf(newest).map(({ prefix, object, tag, read, list }): [string, unknown] => [
    prefix,
    { object, ...(tag && { tag }), ...(read && { read: read.id }), ...(list && { list: list.id }) },
  ])
  const filters = newest.operations
    .map((operation) => [operation.id, filtersOf(newest, operation)] as const)
    .filter(([, all]) => Object.keys(all).length > 0)
  if (records.length === 0 && filters.length === 0) return []
  const file = createFile(['records', 'filters', 'RecordPrefix', 'ListOperation', 'FilterName'])
  file.print(
    '/** Records by the prefix of their IDs, with the operations that return one record and a page of records. */',
    ...printTable('records', records),
    '',
    '/** Equality filters of operations: their allowed values, or null if the document does not list any. */',
    ...printTable('filters', filters),
    TYPES,
  )
  return [{ path: 'canonical/records.ts', text: file.text() }]
}

const TYPES = `
/** ID prefix of a record. */
export type RecordPrefix = keyof typeof records

/** An operation that returns pages of records. */
export type ListOperation = Extract<(typeof records)[RecordPrefix], { readonly list: string }>['list']

/** The name of an operation's equality filter. */
export type FilterName<Operation> = Operation extends keyof typeof filters ? keyof (typeof filters)[Operation] & string : never`

function printTable(name: string, rows: readonly (readonly [string, unknown])[]): string[] {
  const lines = rows.map(([key, value]) => `  ${propertyKey(key)}: ${literal(value)},`)
  return [`export const ${name} = {`, ...lines, '} as const']
}

function filtersOf(api: Api, { parameters }: ApiOperation): Record<string, unknown> {
  return Object.fromEntries(
    parameters
      .filter(({ extensions }) => extensions['x-filter'] === 'equality')
      .map(({ name, schema }) => {
        const values = enumMembers(api, schema).map(({ value }) => value)
        return [name, values.length > 0 ? values : null]
      }),
  )
}
