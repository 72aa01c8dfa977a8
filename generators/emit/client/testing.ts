/** Emits the mock of one version for the tests of programs that use its client. */

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

/** Emits the file of a version. */
export function printTesting(api: Api, wire: Wire): string {
  const file = createFile(['MockOperations', 'createMock', 'service'])
  const errors = errorsOf(api, wire)
  const rows = api.operations.map((operation) => [nameOf(api, operation), rowOf(api, operation)] as const)
  const document = checkedParts(api.document, pointersOf(rows.map(([, row]) => row)), ACCESS)
  const shared = shareLiterals([...rows.map(([, row]) => row), document], 'shared')
  const printedRows = rows.map(([name, row]) => `    ${propertyKey(name)}: ${shared.print(row)},`)
  const printedDocument = shared.print(document)
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
    `  return ${use('mockOf')}(service, settings)`,
    '}',
    '',
    ...shared.constants,
    ...(shared.constants.length > 0 ? [''] : []),
    `const service: ${file.use('MockedVersion', '../testing/requests.ts', { type: true })} = {`,
    `  version: ${literal(api.version)},`,
    `  wire: ${file.use('wire', '../wire.ts', { as: 'wireNames' })},`,
    `  faults: ${literal(faultsOf(api, wire, errors))},`,
    `  errors: ${literal(errors)},`,
    '  operations: {',
    ...printedRows,
    '  },',
    `  document: ${printedDocument},`,
    ...(api.types ? [`  stringify: ${file.use('codecOf', '../runtime/values.ts')}().stringify,`] : []),
    '}',
  )
  return file.text()
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
