/** Emits the verification of webhooks: the name of the signature header, and the functions that use it. */
import { enumMembers, propertiesNamed } from '../../ir/members.ts'
import type { Api, ApiParameter } from '../../ir/model.ts'
import { createFile, type TypeScriptFile } from '../../print/file.ts'
import { docComment, literal } from '../../print/literal.ts'

const UNWRAP = `
Verifies a delivery and returns its event. Events can arrive more than once and in any order.

@param body the body exactly as received, before it is parsed.
@param headers the headers of the delivery.
@param secret the secret of the endpoint, including \`whsec_\`, or its public key, including \`whpk_\`. If you pass several, one must match.
@throws WebhookError if the delivery must be rejected; \`code\` gives the reason.
@example
const event = await unwrap(await request.text(), request.headers, secret)
`

const TEST_HEADERS = `
Returns the signature header for a delivery with this body, for tests. It has one signature for each secret.

@throws WebhookError if there is no secret.
@example
const request = new Request(url, { method: 'POST', body, headers: await testHeaders(body, secret) })
`

/** Emits the type of a version's events. */
export function printEvents(api: Api): string {
  const file = createFile(['WebhookEvent'])
  const eventOf = file.use('EventOf', '../runtime/webhooks.ts', { type: true })
  const webhooks = file.use('webhooks', './types.ts', { type: true })
  file.print(
    `/** Events that version ${api.version} sends to webhook endpoints, discriminated by \`type\`. New types can be added later. */`,
    `export type WebhookEvent = ${eventOf}<${webhooks}>`,
  )
  return file.text()
}

/** A value in the format that `client-runtime/webhooks.ts` reads. */
const SIGNATURE = `t=1767225600,v1=${'0123456789abcdef'.repeat(4)}`

/**
 * Finds the signature header by its `pattern`: it accepts a signature, while the patterns of identifiers and
 * numbers do not.
 *
 * @returns undefined if no header matches, or if events have different signature headers.
 */
export function signatureHeaderOf(api: Api): string | undefined {
  const names = new Set(
    api.events.map(({ headers }) => headers.find((header) => admitsSignature(api, header))?.name),
  )
  return names.size === 1 ? [...names][0] : undefined
}

/**
 * Whether a schema is that of all events: its `type` lists the types of the events that the document describes. False
 * if types are mapped, because the contents of listed events are then not decoded.
 */
export function isEventSchema(api: Api, name: string): boolean {
  const schema = api.schemas.get(name)
  if (!schema || api.types || api.events.length === 0) return false
  const types = propertiesNamed(api, schema, 'type').flatMap((type) => enumMembers(api, type.schema))
  return api.events.every((event) => types.some(({ value }) => value === event.name))
}

function admitsSignature(api: Api, { schema }: ApiParameter): boolean {
  const named = schema.kind === 'ref' ? api.schemas.get(schema.name) : schema
  return named?.kind === 'string' && named.pattern !== undefined && regular(named.pattern).test(SIGNATURE)
}

/** Compiles a pattern as validators do: in Unicode mode if possible. Invalid patterns have already been reported. */
function regular(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return new RegExp(pattern)
  }
}

/**
 * Emits functions for the events of one version. These are functions instead of constants, so that bundlers can
 * drop unused ones.
 *
 * @param codec the codec of events, if types are mapped.
 */
export function printReceiver(file: TypeScriptFile, header: string, codec?: string): void {
  const runtime = '../runtime/webhooks.ts'
  const verify = file.use('verifyDelivery', runtime)
  file.use('WebhookEvent', './events.ts', { type: true })
  printUnwrap(file, { runtime, verify, under: literal(header), codec })
  const use = (name: string) => file.use(name, runtime, { type: true })
  file.print(
    '',
    ...docComment(TEST_HEADERS).trimEnd().split('\n'),
    `export function testHeaders(body: ${use('WebhookBody')}, secret: ${use('WebhookSecret')}, options?: ${use('SignOptions')}): Promise<Record<string, string>> {`,
    `  return ${file.use('signDelivery', runtime)}(${literal(header)}, body, secret, options)`,
    '}',
  )
}

interface UnwrapPrint {
  /** Path of the runtime's webhook module, relative to the file. */
  readonly runtime: string
  /** Local name of the verification function, and its first argument. */
  readonly verify: string
  readonly under: string
  /** The codec of events, if types are mapped. */
  readonly codec?: string | undefined
}

/** Emits `unwrap`, typed by the file's own `WebhookEvent`. */
export function printUnwrap(file: TypeScriptFile, { runtime, verify, under, codec }: UnwrapPrint): void {
  const use = (name: string) => file.use(name, runtime, { type: true })
  file.print(
    '',
    ...docComment(UNWRAP).trimEnd().split('\n'),
    `export function unwrap(body: ${use('WebhookBody')}, headers: ${use('WebhookHeaders')}, secret: ${use('WebhookSecret')}, options?: ${use('UnwrapOptions')}): Promise<WebhookEvent> {`,
    `  return ${verify}<WebhookEvent>(${under}, body, headers, secret, options${codec === undefined ? '' : `, ${codec}`})`,
    '}',
  )
}
