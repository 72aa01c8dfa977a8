/** Emits the operation table of each version, which the request pipeline uses before and after the handler. */
import type { LoadedChange } from '../../change/load-changes.ts'
import type { Report } from '../../diagnostics/diagnostic.ts'
import { escapePointer } from '../../document/escape-pointer.ts'
import { jsonBody, rawAnswer, rawBodies, streamOf, validatedArray } from '../../ir/bodies.ts'
import type { ExtensionRules } from '../../ir/extension-rules.ts'
import { essenceOf } from '../../ir/media-type.ts'
import type { Api, ApiOperation, ApiParameter, Extensions, OutputFile } from '../../ir/model.ts'
import { identifier } from '../../ir/naming.ts'
import { successOf, successStatus } from '../../ir/operations.ts'
import { createFile, type TypeScriptFile } from '../../print/file.ts'
import { heading, literal, propertyKey, stringLiteral, tagHeading } from '../../print/literal.ts'
import { CONTRACT } from '../../print/runtime.ts'
import { isSet } from '../../translate/parameters.ts'
import { emitRequestDecoders, type RequestDecoders } from '../decoders/requests.ts'
import type { BoundFunction, TranslationBindings } from '../translations/translations.ts'
import { validatedOf } from '../validators/names.ts'
import { formContents, formFields } from '../wire/forms.ts'
import { findUnwritten, parameterEncoding, scalarTypes } from '../wire/parameters.ts'
import { type EmittedBehaviour, emitBehaviour } from './behaviour.ts'
import { EXTENSIONS_FILE, extensionKey, printExtensionTypes } from './extensions.ts'
import { createOperationExtensions } from './operation-extensions.ts'

/**
 * @param apis oldest first.
 * @param bindings the translations of each version.
 * @param rules extension rules of the family.
 */
export function emitRoutes(
  apis: readonly Api[],
  bindings: ReadonlyMap<string, TranslationBindings>,
  report: Report,
  rules?: ExtensionRules,
  changes: readonly LoadedChange[] = [],
): OutputFile[] {
  const extensionsOf = createOperationExtensions(apis, rules)
  const decoders = emitRequestDecoders(apis, changes, report)
  const behaviour = emitBehaviour(apis, changes)
  const files = apis.map((api) => ({
    path: `${api.version}/routes.ts`,
    text: printRoutes(api, bindings.get(api.version), report, extensionsOf, decoders, behaviour),
  }))
  return [
    ...files,
    ...behaviour.files,
    ...decoders.files,
    { path: EXTENSIONS_FILE, text: printExtensionTypes(apis, rules) },
    { path: 'versions.ts', text: printVersions(apis, behaviour) },
  ]
}

function printVersions(apis: readonly Api[], behaviour: EmittedBehaviour): string {
  const file = createFile(['versions', 'current'])
  const version = useVersion(file, '.', behaviour)
  const names = apis.map((api) =>
    file.use('version', `./${api.version}/routes.ts`, { as: identifier(`version_${api.version}`) }),
  )
  const current = apis.at(-1)?.version ?? ''
  file.print(
    '/** All versions, oldest first. */',
    `export const versions: readonly ${version}[] = [${names.join(', ')}]`,
    '',
  )
  file.print('/** The newest version. */', `export const current = ${stringLiteral(current)}`)
  return file.text()
}

/**
 * Returns the type of a version's table.
 *
 * @param root the output folder, as the file refers to it.
 */
function useVersion(file: TypeScriptFile, root: string, behaviour: EmittedBehaviour): string {
  const [operation, own] = ['OperationExtensions', 'VersionExtensions'].map((name) =>
    file.use(name, `${root}/${EXTENSIONS_FILE}`, { type: true }),
  )
  const names = behaviour.useNames(file, root)
  return `${file.use('Version', CONTRACT, { type: true })}<${operation}, ${own}${names === undefined ? '' : `, ${names}`}>`
}

interface RouteTable {
  readonly api: Api
  readonly file: TypeScriptFile
  readonly report: Report
  readonly bindings: TranslationBindings | undefined
  readonly extensionsOf: (operation: ApiOperation, canonicalId: string) => Extensions
  readonly decoders: RequestDecoders
  /** Rows of parameters that several operations share, by constant name. */
  readonly shared: Map<string, string>
  /** Pointers of the parameters that cannot be encoded in any style. */
  readonly unwritten: Set<string>
  /** By text: names of the constants for translations of responses other than the success response. */
  readonly answers: Map<string, string>
}

function printRoutes(
  api: Api,
  bindings: TranslationBindings | undefined,
  report: Report,
  extensionsOf: RouteTable['extensionsOf'],
  decoders: RequestDecoders,
  behaviour: EmittedBehaviour,
): string {
  const file = createFile(['version', 'operations', 'answers'])
  const table: RouteTable = {
    api,
    file,
    report,
    bindings,
    extensionsOf,
    decoders,
    shared: new Map(),
    unwritten: new Set(),
    answers: new Map(),
  }
  const rows = api.operations.flatMap((operation, index) => [
    ...tagHeading(operation.tag, api.operations[index - 1]?.tag).map((each) => `  ${each}`),
    printOperation(table, operation),
  ])
  if (table.shared.size > 0) file.print(heading('Parameters that operations share'), '')
  for (const [name, row] of [...table.shared].sort(([a], [b]) => (a < b ? -1 : 1))) {
    file.print(`const ${name}: ${file.use('Parameter', CONTRACT, { type: true })} = ${row}`)
  }
  const own = file.use('OperationExtensions', `../${EXTENSIONS_FILE}`, { type: true })
  const operation = `${file.use('Operation', CONTRACT, { type: true })}<${own}>`
  if (table.answers.size > 0) file.print('', heading('Translations of answers other than success'), '')
  for (const [row, name] of table.answers) file.print(`const ${name}: ${operation}['downs'] = ${row}`)
  const version = useVersion(file, '..', behaviour)
  file.print('', heading('Operations'), '', `const operations: readonly ${operation}[] = [`, ...rows, ']', '')
  const life = Object.entries(api.info).map(
    ([name, value]) => `${propertyKey(extensionKey(name))}: ${literal(value)}`,
  )
  file.print(`export const version: ${version} = {`, `  name: ${stringLiteral(api.version)},`)
  const row = behaviour.rowOf(api)
  file.print(...life.map((each) => `  ${each},`), ...(row === undefined ? [] : [`  behaviour: ${row},`]))
  file.print('  operations,', '}')
  return file.text()
}

function printOperation(table: RouteTable, operation: ApiOperation): string {
  const id = table.bindings?.canonicalId(operation) ?? operation.id
  const members: [string, string | undefined][] = [
    ['id', stringLiteral(id)],
    ['method', stringLiteral(operation.method)],
    ['path', stringLiteral(operation.path)],
    ['status', String(statusOf(operation, table))],
    ['stream', printStream(table, operation)],
    ['oauth', literal(operation.security.flatMap((each) => each.oauth ?? []))],
    ['extensions', printExtensions(table.extensionsOf(operation, id))],
    ['pathParameters', printParameters(table, operation, 'path')],
    ['query', printParameters(table, operation, 'query')],
    ['headers', printParameters(table, operation, 'header')],
    ['body', printBody(table, operation)],
    ['forms', printForms(table, operation)],
    ['raw', printRaw(table, operation)],
    ['media', printMedia(operation)],
    ['typed', table.decoders.printRow(id, table.file)],
    ['upPath', useTranslation(table, table.bindings?.upPath(operation))],
    ['upQuery', useTranslation(table, table.bindings?.upQuery(operation))],
    ['upHeaders', useTranslation(table, table.bindings?.upHeaders(operation))],
    ['upBody', useTranslation(table, table.bindings?.upBody(operation))],
    ['upRequest', useTranslation(table, table.bindings?.upRequest(operation))],
    ['down', useTranslation(table, table.bindings?.down(operation))],
    ['downs', printDowns(table, operation)],
    ['downField', useTranslation(table, table.bindings?.downField(operation))],
    ['parameterNames', printWords(table.bindings?.names(operation), stringLiteral)],
    ['downStatus', printWords(table.bindings?.statusNames(operation), (status) => status)],
  ]
  const printed = members
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `    ${name}: ${value},\n`)
  return `  {\n${printed.join('')}  },`
}

function printDowns(table: RouteTable, operation: ApiOperation): string | undefined {
  const downs = [...(table.bindings?.downs(operation) ?? [])]
  if (downs.length === 0) return undefined
  const members = downs.map(
    ([status, bound]) => `${stringLiteral(status)}: ${useTranslation(table, bound) ?? 'undefined'}`,
  )
  const row = `{ ${members.join(', ')} }`
  const name = table.answers.get(row) ?? `answers${table.answers.size === 0 ? '' : table.answers.size + 1}`
  table.answers.set(row, name)
  return name
}

function useTranslation(table: RouteTable, bound: BoundFunction | undefined): string | undefined {
  return bound && table.file.use(bound.name, `../translations/${bound.version}.ts`)
}

/** Maps names of the canonical version to those of this version; absent if they are equal. */
function printWords(
  words: ReadonlyMap<string, string> | undefined,
  print: (word: string) => string,
): string | undefined {
  const members = [...(words ?? [])].map(([canonical, own]) => `${propertyKey(canonical)}: ${print(own)}`)
  return members.length > 0 ? `{ ${members.join(', ')} }` : undefined
}

function statusOf(operation: ApiOperation, table: RouteTable): number {
  if (successOf(operation)) return successStatus(operation)
  table.report.add({
    code: 'operation-without-success',
    severity: 'error',
    place: operation.place,
    message: `${operation.id} has no 2xx response`,
    hint: 'add a success response',
  })
  return 200
}

function printExtensions(extensions: Extensions): string {
  return literal(
    Object.fromEntries(Object.entries(extensions).map(([name, value]) => [extensionKey(name), value])),
  )
}

function printParameters(table: RouteTable, operation: ApiOperation, where: ApiParameter['in']): string {
  const rows = operation.parameters
    .filter((parameter) => parameter.in === where)
    .map((parameter) => {
      const row = printParameter(table, operation, parameter)
      noteUnwritten(table, parameter)
      const component = /^\/components\/parameters\/([^/]+)$/.exec(parameter.place.pointer)?.[1]
      if (!component) return row
      const wanted = identifier(`parameter${component}`)
      let name = wanted
      for (let n = 2; (table.shared.get(name) ?? row) !== row; n++) name = `${wanted}_${n}`
      table.shared.set(name, row)
      return name
    })
  return `[${rows.join(', ')}]`
}

function printParameter(table: RouteTable, operation: ApiOperation, parameter: ApiParameter): string {
  const { api, file } = table
  const check = file.use(validatedOf(api).parameter(parameter, operation), './validators.js')
  const encoding = parameterEncoding(api, parameter)
  const members = [
    `name: ${stringLiteral(parameter.name)}`,
    `type: ${stringLiteral(scalarTypes(api, parameter.schema)[0]!)}`,
    ...(encoding ? [`encoding: ${literal(encoding)}`] : []),
    `required: ${parameter.required}`,
    `set: ${isSet(parameter)}`,
    `validate: ${check}`,
    `pointer: ${stringLiteral(parameter.schema.place.pointer)}`,
  ]
  return `{ ${members.join(', ')} }`
}

/** Reports a shared parameter once. */
function noteUnwritten({ api, report, unwritten }: RouteTable, parameter: ApiParameter): void {
  const found = findUnwritten(api, parameter)
  if (!found || unwritten.has(parameter.place.pointer)) return
  unwritten.add(parameter.place.pointer)
  report.add({
    code: 'server-parameter',
    severity: 'warning',
    place: parameter.place,
    message: `the server rejects every value of the ${parameter.in} parameter ${parameter.name}: it ${found.message}`,
    hint: found.hint,
  })
}

function printBody(table: RouteTable, operation: ApiOperation): string | undefined {
  const content = jsonBody(operation)
  if (!operation.body || !content) return undefined
  const check = table.file.use(validatedOf(table.api).body(content.schema, operation), './validators.js')
  const pointer = `${content.place.pointer}/schema`
  const members = [
    `required: ${operation.body.required}`,
    `validate: ${check}`,
    `pointer: ${stringLiteral(pointer)}`,
  ]
  const each = validatedArray(table.api, content.schema)
  if (each) {
    const item = table.file.use(validatedOf(table.api).item(each.items, operation), './validators.js')
    const at =
      each.items.kind === 'ref'
        ? `/components/schemas/${escapePointer(each.items.name)}`
        : each.items.place.pointer
    const up = useTranslation(table, table.bindings?.upItem(operation))
    const checked = [
      `property: ${stringLiteral(each.property)}`,
      `validate: ${item}`,
      `pointer: ${stringLiteral(at)}`,
    ]
    members.push(`each: { ${[...checked, ...(up ? [`up: ${up}`] : [])].join(', ')} }`)
  }
  return `{ ${members.join(', ')} }`
}

function printStream({ api, file }: RouteTable, operation: ApiOperation): string | undefined {
  const stream = streamOf(operation)
  if (!stream?.items) return stream && 'true'
  const { content, framing, items } = stream
  const members = [
    `media: ${stringLiteral(essenceOf(content.mediaType))}`,
    `framing: ${stringLiteral(framing)}`,
    `validate: ${file.use(validatedOf(api).streamed(items.items, operation), './validators.js')}`,
  ]
  return `{ ${members.join(', ')} }`
}

function printRaw({ api, file }: RouteTable, operation: ApiOperation): string | undefined {
  const bodies = rawBodies(api, operation).map((content) => {
    const check = file.use(validatedOf(api).raw(content, operation), './validators.js')
    const members = [
      `media: ${stringLiteral(essenceOf(content.mediaType))}`,
      `required: ${operation.body!.required}`,
      `validate: ${check}`,
      `pointer: ${stringLiteral(`${content.place.pointer}/schema`)}`,
    ]
    return `{ ${members.join(', ')} }`
  })
  return bodies.length > 0 ? `[${bodies.join(', ')}]` : undefined
}

function printMedia(operation: ApiOperation): string | undefined {
  const content = rawAnswer(operation)
  return content && stringLiteral(content.mediaType)
}

function printForms(table: RouteTable, operation: ApiOperation): string | undefined {
  const { api, file } = table
  const forms = formContents(operation).map(({ media, content }) => {
    const up = useTranslation(table, table.bindings?.upForm(operation, media))
    const check = file.use(validatedOf(api).form(content, operation), './validators.js')
    const members = [
      `media: ${stringLiteral(media)}`,
      `required: ${operation.body!.required}`,
      `validate: ${check}`,
      `pointer: ${stringLiteral(`${content.place.pointer}/schema`)}`,
      `fields: ${literal(formFields(api, content))}`,
      ...(up ? [`up: ${up}`] : []),
    ]
    return `{ ${members.join(', ')} }`
  })
  return forms.length > 0 ? `[${forms.join(', ')}]` : undefined
}
