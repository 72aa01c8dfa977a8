/**
 * Emits methods of the client that take one object with `path`, `query`, `header` and `body`. They are deprecated: the
 * methods of resources replace them.
 */
import type { Wire } from '../../client-runtime/service.ts'
import type { Api, ApiOperation } from '../../ir/model.ts'
import { pascalCase } from '../../ir/naming.ts'
import { type ResourceMethod, resourceMethods } from '../../ir/resource-methods.ts'
import { createFile } from '../../print/file.ts'
import { literal, member, propertyKey } from '../../print/literal.ts'
import { createPage } from '../reference/page.ts'
import { createTypeNames, schemaTypes } from '../types/type-names.ts'
import { argumentsOf } from './arguments.ts'
import { answerOf, MANAGED, managedHeaders } from './functions.ts'
import { createRows, isHeader } from './rows.ts'

/** Prints `books.lend`. */
export const printMethod = ({ resource, method }: ResourceMethod): string =>
  [...resource, method].map((name, at) => (at === 0 ? name : member(name))).join('')

/** @param renamed by operation id: names of functions whose operation id is not an identifier. */
export function printFlat(
  api: Api,
  wire: Wire,
  walked: boolean,
  renamed: ReadonlyMap<string, string>,
): string {
  const names = createTypeNames()
  const inputs = new Map(api.operations.map(({ id }) => [id, names.claim(`${pascalCase(id)}Input`)]))
  const file = createFile([
    ...inputs.values(),
    'Managed',
    'FlatMethods',
    'flatMethods',
    'connection',
    'options',
  ])
  const page = createPage(api, wire, '', [])
  const rowOf = createRows(api, wire, walked)
  const types = schemaTypes(api.schemas.keys())
  const methods = resourceMethods(api)
  const useType = (name: string, from: string) => file.use(name, from, { type: true })
  const input = useType('Input', '../runtime/types.ts')
  const connection = useType('ServiceConnection', '../runtime/connect.ts')
  file.print(MANAGED, `type Managed = ${managedHeaders(api, wire)}`, '')
  for (const { id, parameters } of api.operations) {
    const keyed = parameters.some((each) => isHeader(each, wire.idempotencyHeader))
    const key = keyed ? ` & ${useType('KeyOption', '../runtime/types.ts')}` : ''
    const own = `${useType('operations', './types.ts')}[${literal(id)}]`
    file.print(`export type ${inputs.get(id)!} = ${input}<${own}, Managed>${key}`)
  }
  file.print(
    '',
    '/** Methods that take one object. Resources have methods with the same effect. */',
    'export interface FlatMethods {',
  )
  for (const operation of api.operations) {
    const answer = answerOf(file, page, operation, rowOf(operation), types)
    file.print(
      `  /** @deprecated Use \`client.${printMethod(methods.get(operation.id)!)}\`. */`,
      `  ${propertyKey(operation.id)}(input${needsInput(operation, wire) ? '' : '?'}: ${inputs.get(operation.id)!}): ${answer}`,
    )
  }
  const functions = file.use('*', './functions.ts', { as: 'functions' })
  const bind = file.use('bindFlat', '../runtime/flat.ts')
  file.print('}', '', `export function flatMethods(connection: ${connection}): FlatMethods {`)
  file.print(`  return ${bind}(connection, [`)
  for (const operation of api.operations) {
    const { path, params } = argumentsOf(createFile(), api, wire, operation, (schema) => schema)
    const called = `${functions}.${renamed.get(operation.id) ?? operation.id}`
    const names = path.length > 0 || params ? [literal(path.map(({ name }) => name))] : []
    const row = [literal(operation.id), called, ...names, ...(params ? [literal(params.part)] : [])]
    file.print(`    [${row.join(', ')}],`)
  }
  file.print('  ]) as object as FlatMethods', '}')
  return file.text()
}

function needsInput(operation: ApiOperation, wire: Wire): boolean {
  const required = operation.parameters.some(
    (each) => each.required && !isHeader(each, wire.versionHeader) && !isHeader(each, wire.idempotencyHeader),
  )
  return required || operation.body?.required === true
}
