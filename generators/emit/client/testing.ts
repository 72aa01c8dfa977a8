/** Emits the mock of each version for the tests of programs that use its client. */

import type { Wire } from '../../client-runtime/service.ts'
import type { MockError, MockedOperation, MockedParameter, MockFault } from '../../client-testing/requests.ts'
import { jsonBody } from '../../ir/bodies.ts'
import { isJson } from '../../ir/media-type.ts'
import { partsOf } from '../../ir/members.ts'
import type { Api, ApiOperation } from '../../ir/model.ts'
import { successOf, successStatus } from '../../ir/operations.ts'
import { resourceMethods } from '../../ir/resource-methods.ts'
import { createFile } from '../../print/file.ts'
import { docComment, literal, propertyKey, stringLiteral } from '../../print/literal.ts'
import { shareLiterals } from '../../print/shared-literals.ts'
import { sampleResponse } from '../reference/sample.ts'
import { checkedParts } from '../validators/standard-schemas.ts'
import { errorCatalogue } from '../wire/error-catalogue.ts'
import { parameterEncoding, scalarTypes } from '../wire/parameters.ts'

/** Number of records of a page, if the document does not say. */
const PAGE_SIZE = 20
const LIMITS = ['limit', 'page_size', 'pageSize', 'per_page', 'perPage', 'max_results']

/** Codes that documents use for the faults of a request, and what a generated server answers otherwise. */
const FAULTS: Readonly<Record<MockFault, readonly [status: number, ...codes: [string, ...string[]]]>> = {
  unknown: [400, 'unknown_parameter', 'invalid_parameter'],
  repeated: [400, 'repeated_parameter', 'invalid_parameter'],
  missing: [400, 'missing_field', 'missing_parameter', 'invalid_parameter'],
  encoding: [400, 'invalid_format', 'invalid_parameter'],
  format: [400, 'invalid_format', 'invalid_parameter'],
  invalid: [400, 'invalid_format', 'invalid_parameter'],
  cursor: [400, 'invalid_cursor', 'invalid_parameter'],
  malformed: [400, 'malformed_json', 'malformed_body'],
  body: [422, 'validation_failed', 'invalid_body'],
  path: [404, 'not_found'],
  method: [405, 'method_not_allowed'],
}

/** The tables of all versions: most of their parts are the same in several versions. */
const TABLES = '../testing/services.ts'

/** Emits the file of a version. */
export function printTesting(api: Api): string {
  const file = createFile(['MockOperations', 'createMock'])
  const operations = file.use('operations', './types.ts', { type: true })
  const use = (name: string) => file.use(name, '../testing/mock.ts', { type: name !== 'mockOf' })
  file.print(
    `/** The operations of version ${api.version}, by the names of their methods. */`,
    'export interface MockOperations {',
    ...api.operations.map(
      (operation) =>
        `  ${propertyKey(nameOf(api, operation))}: ${operations}[${stringLiteral(operation.id)}]`,
    ),
    '}',
    '',
    ...docComment(
      `Creates a service in memory: \`createClient({ baseUrl: 'https://api.test', apiKey: 'test', fetch: createMock().fetch })\`.`,
    )
      .trimEnd()
      .split('\n'),
    `export function createMock(settings?: ${use('MockSettings')}): ${use('ServiceMock')}<MockOperations> {`,
    `  return ${use('mockOf')}(${file.use('services', TABLES)}[${literal(api.version)}], settings)`,
    '}',
  )
  return file.text()
}

/** Emits the tables of all versions, with their equal parts as constants. */
export function printMockedServices(apis: readonly Api[], wire: Wire): string {
  const file = createFile(['services'])
  const mocked = file.use('MockedVersion', './requests.ts', { type: true })
  const names = file.use('wire', '../wire.ts', { as: 'wireNames' })
  const codecOf = apis.some((api) => api.types) ? file.use('codecOf', '../runtime/values.ts') : undefined
  const tables = apis.map((api) => tableOf(api, wire))
  const shared = shareLiterals(tables, ['services', mocked, names, codecOf ?? ''])
  const printed = apis.flatMap((api, at) => [
    `  ${propertyKey(api.version)}: {`,
    `    version: ${literal(api.version)},`,
    `    wire: ${names},`,
    ...Object.entries(tables[at]!).map(([part, value]) =>
      part === 'operations'
        ? `    operations: {\n${Object.entries(value)
            .map(([name, row]) => `      ${propertyKey(name)}: ${shared.print(row, name)},`)
            .join('\n')}\n    },`
        : `    ${part}: ${shared.print(value, part)},`,
    ),
    ...(api.types ? [`    stringify: ${codecOf}().stringify,`] : []),
    '  },',
  ])
  const keys = apis.map(({ version }) => stringLiteral(version)).join(' | ')
  file.print(
    ...shared.constants,
    ...(shared.constants.length > 0 ? [''] : []),
    '/** The operations, errors and request schemas of each version. */',
    `export const services: Readonly<Record<${keys}, ${mocked}>> = {`,
    ...printed,
    '}',
  )
  return file.text()
}

function tableOf(api: Api, wire: Wire) {
  const errors = errorsOf(api, wire)
  const operations = Object.fromEntries(
    api.operations.map((operation) => [nameOf(api, operation), rowOf(api, operation)]),
  )
  const document = checkedParts(api.document, pointersOf(Object.values(operations)), ACCESS)
  return { faults: faultsOf(api, wire, errors), errors, operations, document }
}

/** Requests accept read-only properties that are sent back, so the mock has to know them. */
const ACCESS = ['readOnly', 'writeOnly']

function nameOf(api: Api, { id }: ApiOperation): string {
  const { resource, method } = resourceMethods(api).get(id)!
  return [...resource, method].join('.')
}

function rowOf(api: Api, operation: ApiOperation): MockedOperation {
  const { method, path, parameters, body, extensions, responses } = operation
  const content = jsonBody(operation)
  const contents = successOf(operation)?.contents ?? []
  const media = contents.some(({ mediaType }) => isJson(mediaType)) ? undefined : contents[0]?.mediaType
  const example = sampleResponse(api, responses)
  const rows = parameters
    .filter((each) => each.in !== 'cookie')
    .map((each): MockedParameter => {
      const encoding = parameterEncoding(api, each)
      return {
        name: each.name,
        in: each.in as MockedParameter['in'],
        type: scalarTypes(api, each.schema)[0]!,
        ...(encoding && { encoding }),
        ...(each.required && { required: true }),
        pointer: each.schema.place.pointer,
      }
    })
  return {
    method,
    path,
    ...(rows.length > 0 && { parameters: rows }),
    ...(body &&
      content && {
        body: { ...(body.required && { required: true }), pointer: `${content.place.pointer}/schema` },
      }),
    status: successStatus(operation),
    ...(media !== undefined && { media }),
    ...(example && { example: example.value }),
    ...(extensions['x-pagination'] === 'cursor' && { paged: pagingOf(api, operation) }),
  }
}

function pagingOf(api: Api, { parameters }: ApiOperation): NonNullable<MockedOperation['paged']> {
  const limit = parameters.find((each) => each.in === 'query' && LIMITS.includes(each.name))
  const sizes = limit ? partsOf(api, limit.schema).map((part) => part.default) : []
  const size = [limit?.schema.default, ...sizes].find((each) => typeof each === 'number') ?? PAGE_SIZE
  return { ...(limit && { limit: limit.name }), size }
}

const pointersOf = (rows: readonly MockedOperation[]): string[] =>
  rows.flatMap(({ parameters = [], body }) => [
    ...parameters.map(({ pointer }) => pointer),
    ...(body ? [body.pointer] : []),
  ])

/** Returns the errors of the document that have examples, which show their statuses and types. */
const errorsOf = (api: Api, wire: Wire): MockError[] =>
  errorCatalogue(api, wire).flatMap(({ code, statuses, types: [type] }) =>
    type === undefined ? [] : statuses.map((status) => ({ status: Number(status), type, code })),
  )

/** Chooses the first code that the document has. A code without an example has the type of others with its status. */
function faultsOf(api: Api, wire: Wire, errors: readonly MockError[]): Record<MockFault, MockError> {
  const known = new Set(errorCatalogue(api, wire).map(({ code }) => code))
  const faults = Object.entries(FAULTS).map(([fault, [status, ...codes]]) => {
    const code = codes.find((each) => known.has(each)) ?? codes.at(-1)!
    const alike = errors.find((each) => each.code === code) ?? errors.find((each) => each.status === status)
    return [fault, { status: alike?.status ?? status, type: alike?.type ?? code, code }]
  })
  return Object.fromEntries(faults) as Record<MockFault, MockError>
}
