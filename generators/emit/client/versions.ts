/**
 * Emits the package's root, which holds all versions. Programs for one version import that version's subpath
 * instead.
 */
import type { Wire } from '../../client-runtime/service.ts'
import type { Api } from '../../ir/model.ts'
import { createFile, type TypeScriptFile } from '../../print/file.ts'
import { literal, propertyKey } from '../../print/literal.ts'
import { printCommonExports, printWebhookExports } from './exports.ts'
import { printUnwrap, signatureHeaderOf } from './webhooks.ts'

const DECLARED = [
  'Clients',
  'Schemas',
  'Version',
  'Versions',
  'WebhookEvent',
  'createClient',
  'creators',
  'unwrap',
]

/** @param apis oldest first. */
export function printVersions(apis: readonly Api[], wire: Wire, classes: Iterable<string>): string {
  const file = createFile(DECLARED)
  const options = file.use('ClientOptions', './runtime/connect.ts', { type: true })
  const connect = file.use('connectVersions', './runtime/versions.ts')
  const versioned = file.use('Versioned', './runtime/versions.ts', { type: true })
  const sends = apis.some((api) => signatureHeaderOf(api) !== undefined)
  file.print(...printCommonExports('.', classes), ...(sends ? [printWebhookExports('.')] : []), '')
  file.print(
    '/** Types of each version: its client, its schemas, and the events that it sends to webhook endpoints. */',
    'export interface Versions {',
    ...apis.map((api) => `  ${propertyKey(api.version)}: ${printMembers(file, api)}`),
    '}',
    '',
    'export type Version = keyof Versions',
    '',
    '/** Types of the documented schemas of a version, by name. */',
    "export type Schemas<Each extends Version> = Versions[Each]['schemas']",
    '',
    "export type Clients = { readonly [Each in Version]: Versions[Each]['client'] }",
    '',
    'const creators = {',
    ...apis.map(
      (api) =>
        `  ${propertyKey(api.version)}: ${file.use('createClient', `./${api.version}/index.ts`, { as: `createClient_${suffix(api)}` })},`,
    ),
    '}',
    '',
    '/**',
    ' * Creates clients for all versions that share their settings.',
    ' *',
    ' * @example',
    ` * const client = createClient({ baseUrl, apiKey }).at(${literal(apis.at(-1)?.version)})`,
    ' */',
    `export function createClient(options: ${options}): ${versioned}<Clients> {`,
    `  return ${connect}<Clients>(creators, options)`,
    '}',
  )
  if (sends) printAnyUnwrap(file, apis, wire)
  return file.text()
}

function printMembers(file: TypeScriptFile, api: Api): string {
  const use = (name: string, as: string) =>
    file.use(name, `./${api.version}/index.ts`, { type: true, as: `${as}_${suffix(api)}` })
  const event = api.events.length > 0 ? use('WebhookEvent', 'Event') : 'never'
  return `{ client: ${use('Client', 'Client')}; schemas: ${use('Schemas', 'Schemas')}; event: ${event} }`
}

function suffix({ version }: Api): string {
  return version.replace(/\W/g, '_')
}

function printAnyUnwrap(file: TypeScriptFile, apis: readonly Api[], { eventVersion }: Wire): void {
  const signed = apis.flatMap((api) => {
    const header = signatureHeaderOf(api)
    return header === undefined ? [] : [[api.version, header] as const]
  })
  const runtime = './runtime/webhooks.ts'
  const type = file.use('SignedVersions', './runtime/versions.ts', { type: true })
  file.print(
    '',
    `/** Events that a version sends to webhook endpoints; by default of all versions, discriminated by \`${eventVersion}\` and \`type\`. */`,
    'export type WebhookEvent<Each extends Version = Version> = {',
    `  [Name in Each]: Versions[Name]['event'] & { ${propertyKey(eventVersion)}: Name }`,
    '}[Each]',
    '',
    `const signed: ${type} = {`,
    `  headers: ${literal(Object.fromEntries(signed))},`,
    `  member: ${literal(eventVersion)},`,
    '}',
  )
  printUnwrap(file, {
    runtime,
    verify: file.use('verifyAnyDelivery', './runtime/versions.ts'),
    under: 'signed',
  })
}
