/** One version of the client: an interface that types its operations, and the table that binds them. */
import type { OperationRow, Service, Wire } from '../../client-runtime/service.ts'
import type { Api, ApiOperation, ApiParameter } from '../../ir/model.ts'
import { createFile, type TypeScriptFile } from '../../print/file.ts'
import { docComment, literal, propertyKey } from '../../print/literal.ts'
import { createPage, type ReferencePage } from '../reference/page.ts'
import { callOf } from '../reference/typescript.ts'
import { refusalTypes } from '../wire/error-catalogue.ts'
import { schemesOf, usualAlternatives } from '../wire/security.ts'
import { printCommonExports, printWebhookExports } from './exports.ts'
import { createRows, isHeader, printRow } from './rows.ts'
import { printReceiver, signatureHeaderOf } from './webhooks.ts'

const DECLARED = [
  'Client',
  'Managed',
  'Schemas',
  'WebhookEvent',
  'createClient',
  'service',
  'testHeaders',
  'table',
  'unwrap',
]

/**
 * @param walked whether lists can be walked with `for await`.
 * @param classes names of the classes of errors, by `type`.
 */
export function printVersion(
  api: Api,
  wire: Wire,
  walked: boolean,
  classes: ReadonlyMap<string, string>,
): string {
  const file = createFile(DECLARED)
  const page = createPage(api, wire, '', [])
  const rowOf = createRows(api, wire, walked)
  const rows = api.operations.map((operation) => ({ operation, of: rowOf(operation) }))
  const options = file.use('ClientOptions', '../runtime/connect.ts', { type: true })
  const connect = file.use('connect', '../runtime/connect.ts')
  const row = file.use('OperationRow', '../runtime/service.ts', { type: true })
  const service = file.use('Service', '../runtime/service.ts', { type: true })
  const components = file.use('components', './types.ts', { type: true })
  printExports(file, components, api.events.length > 0)
  file.print(
    '/** Header parameters that the client sends by itself. */',
    `type Managed = ${managedHeaders(api, wire).map(literal).join(' | ') || 'never'}`,
    '',
    ...docComment(`${api.title}, version ${api.version}.`).trimEnd().split('\n'),
    'export interface Client {',
    ...rows.flatMap(({ operation, of }) => printMethod(file, page, operation, of.row, classes)),
    '}',
    '',
    'const table = {',
    ...rows.map(({ operation, of }) => `  ${propertyKey(operation.id)}: ${printRow(file, of)},`),
    `} satisfies Record<keyof Client, ${row}>`,
    '',
    `/** How version ${api.version} is called: its operations, and what things are named on the wire. */`,
    `export const service: ${service} = ${printService(file, api)}`,
    '',
    `/** A client whose every call is answered in version ${api.version}. */`,
    `export function createClient(options: ${options}): Client {`,
    `  return ${connect}<Client>(service, options)`,
    '}',
  )
  printWebhooks(file, api)
  return file.text()
}

function printExports(file: TypeScriptFile, components: string, sends: boolean): void {
  file.print(
    ...printCommonExports('..'),
    ...(sends ? [printWebhookExports('..')] : []),
    "export type { components, operations, webhooks } from './types.ts'",
    '',
    '/** The types of the documented schemas, by name. */',
    `export type Schemas = ${components}['schemas']`,
    '',
  )
}

/** Nothing where the document sends no events; the type alone where none of their headers is a signature. */
function printWebhooks(file: TypeScriptFile, api: Api): void {
  if (api.events.length === 0) return
  const webhooks = file.use('webhooks', './types.ts', { type: true })
  const eventOf = file.use('EventOf', '../runtime/webhooks.ts', { type: true })
  file.print(
    '',
    `/** What version ${api.version} sends to webhook endpoints, told apart by \`type\`; other types may follow. */`,
    `export type WebhookEvent = ${eventOf}<${webhooks}>`,
  )
  const header = signatureHeaderOf(api)
  if (header !== undefined) printReceiver(file, header)
}

function printService(file: TypeScriptFile, api: Api): string {
  const errors = file.use('errorClasses', '../errors.ts')
  const schemes = schemesOf(api)
  const security = usualAlternatives(api)
  const members: Partial<Record<keyof Service, string>> = {
    version: literal(api.version),
    wire: file.use('wire', '../wire.ts'),
    ...(Object.keys(schemes).length > 0 && { schemes: literal(schemes) }),
    ...(security.length > 0 && { security: literal(security) }),
    errors,
    operations: 'table',
  }
  const lines = Object.entries(members).map(([name, value]) => `  ${name}: ${value},\n`)
  return `{\n${lines.join('')}}`
}

function printMethod(
  file: TypeScriptFile,
  page: ReferencePage,
  operation: ApiOperation,
  row: OperationRow,
  classes: ReadonlyMap<string, string>,
): string[] {
  const use = (name: string, from: string) => file.use(name, `../runtime/${from}.ts`, { type: true })
  const { wire } = page
  const types = `${file.use('operations', './types.ts', { type: true })}[${literal(operation.id)}]`
  const key = row.keyed ? ` & ${use('KeyOption', 'types')}` : ''
  const optional = needsInput(operation, wire) ? '' : '?'
  const result = row.listed
    ? `${use('ListResult', 'types')}<${types}, ${literal(wire.page.items)}>`
    : `${use('Result', 'types')}<${types}>`
  return [
    ...docComment(describe(page, operation, classes), '  ')
      .trimEnd()
      .split('\n'),
    `  ${propertyKey(operation.id)}(input${optional}: ${use('Input', 'types')}<${types}, Managed>${key}): ${result}`,
  ]
}

function describe(
  page: ReferencePage,
  operation: ApiOperation,
  classes: ReadonlyMap<string, string>,
): string {
  const { summary, description, method, path, deprecated } = operation
  const thrown = refusalTypes(operation, page.wire).map((type) => classes.get(type) ?? 'ResponseError')
  const tags = [
    ...(thrown.length > 0 ? [`@throws {${thrown.join(' | ')}}`] : []),
    ...(deprecated ? ['@deprecated'] : []),
    `@example\n\`\`\`ts\nawait ${callOf(page, operation)}\n\`\`\``,
  ]
  return [summary, description, `\`${method} ${path}\``, tags.join('\n')]
    .filter((part) => part !== undefined)
    .join('\n\n')
}

function managedHeaders(api: Api, wire: Wire): string[] {
  const parameters = api.operations.flatMap((operation) => operation.parameters)
  const managed = parameters.filter((each) => isManaged(each, wire))
  return [...new Set(managed.map((each) => each.name))]
}

function isManaged(parameter: ApiParameter, wire: Wire): boolean {
  return isHeader(parameter, wire.versionHeader) || isHeader(parameter, wire.idempotencyHeader)
}

function needsInput(operation: ApiOperation, wire: Wire): boolean {
  const required = operation.parameters.some((each) => each.required && !isManaged(each, wire))
  return required || operation.body?.required === true
}
