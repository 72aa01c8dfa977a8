/** Emits one version of the client: its connection, and a class with its resources. */
import type { Service } from '../../client-runtime/service.ts'
import type { Api } from '../../ir/model.ts'
import { createFile, type TypeScriptFile } from '../../print/file.ts'
import { docComment, literal, propertyKey } from '../../print/literal.ts'
import { eventKey } from '../decoders/answers.ts'
import { schemesOf, usualAlternatives } from '../wire/security.ts'
import { printCommonExports, printWebhookExports } from './exports.ts'
import { printReceiver, signatureHeaderOf } from './webhooks.ts'

const DECLARED = [
  'Client',
  'FlatMethods',
  'Resources',
  'flatMethods',
  'Schemas',
  'createClient',
  'connect',
  'service',
  'testHeaders',
  'unwrap',
]

/**
 * Emits the entry point of a version.
 *
 * @param classes names of the error classes, by `type`.
 * @param decoders names of the functions that decode events, by `eventKey`, if types are mapped.
 */
export function printVersion(
  api: Api,
  classes: ReadonlyMap<string, string>,
  decoders?: ReadonlyMap<string, string>,
): string {
  const file = createFile(DECLARED)
  const useType = (name: string, from: string) => file.use(name, `../runtime/${from}.ts`, { type: true })
  const options = useType('ClientOptions', 'connect')
  printExports(file, classes, api.events.length > 0)
  file.print(
    `/** Names on the wire and security schemes of version ${api.version}. */`,
    `export const service: ${useType('Service', 'service')} = ${printService(file, api)}`,
    '',
    `/** Creates the connection for the functions of this version: \`getThing(connect({ baseUrl, apiKey }), input)\`. */`,
    `export function connect(options: ${options}): ${useType('ServiceConnection', 'connect')} {`,
    `  return ${file.use('connect', '../runtime/connect.ts', { as: 'connectTo' })}(service, options)`,
    '}',
    '',
    ...docComment(`${api.title}, version ${api.version}. Each resource has methods for its operations.`)
      .trimEnd()
      .split('\n'),
    'export class Client extends Resources {',
    `  readonly #options: ${options}`,
    ...(signatureHeaderOf(api) === undefined
      ? []
      : [
          '',
          '  /** Verifies and signs webhook deliveries. */',
          '  readonly webhooks = { unwrap, sign: testHeaders }',
        ]),
    '',
    '  /** @throws ClientError if the options have no base URL or no credentials. */',
    `  constructor(options: ${options}) {`,
    '    const connection = connect(options)',
    '    super(connection)',
    '    this.#options = options',
    '    // A resource takes the place of a method of the same name.',
    '    Object.assign(this, { ...flatMethods(connection), ...this })',
    '  }',
    '',
    '  /** Returns a client with the same settings, except those that are given. */',
    `  withOptions(options: Partial<${options}>): Client {`,
    '    return new Client({ ...this.#options, ...options })',
    '  }',
    '}',
    '',
    'export interface Client extends Omit<FlatMethods, keyof Resources> {}',
    '',
    `/** Creates a client for version ${api.version}. */`,
    `export function createClient(options: ${options}): Client {`,
    '  return new Client(options)',
    '}',
  )
  printWebhooks(file, api, decoders)
  return file.text()
}

function printExports(file: TypeScriptFile, classes: ReadonlyMap<string, string>, sends: boolean): void {
  const components = file.use('components', './types.ts', { type: true })
  file.print(
    "import { type FlatMethods, flatMethods } from './flat.ts'",
    "import { Resources } from './resources.ts'",
    '',
    ...printCommonExports('..', classes.values()),
    ...(sends ? [printWebhookExports('..')] : []),
    "export type * from './resources.ts'",
    "export type * from './flat.ts'",
    "export type * from './types.ts'",
    ...(sends ? ["export type * from './events.ts'"] : []),
    '',
    '/** Types of the documented schemas, by name. */',
    `export type Schemas = ${components}['schemas']`,
    '',
  )
}

/** Emits nothing if no event header is a signature. */
function printWebhooks(
  file: TypeScriptFile,
  api: Api,
  decoders: ReadonlyMap<string, string> | undefined,
): void {
  const header = signatureHeaderOf(api)
  if (header !== undefined) printReceiver(file, header, decoders && printEventCodec(file, api, decoders))
}

/** Prints the codec of events, with a function for each event that is decoded. */
function printEventCodec(file: TypeScriptFile, api: Api, decoders: ReadonlyMap<string, string>): string {
  const rows = api.events.flatMap(({ name }) => {
    const decoder = decoders.get(eventKey(name))
    return decoder === undefined ? [] : [`${propertyKey(name)}: ${file.use(decoder, './decode.ts')}`]
  })
  return `${file.use('eventCodecOf', '../runtime/values.ts')}(${rows.length > 0 ? `{ ${rows.join(', ')} }` : '{}'})`
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
  }
  const lines = Object.entries(members).map(([name, value]) => `  ${name}: ${value},\n`)
  return `{\n${lines.join('')}}`
}
