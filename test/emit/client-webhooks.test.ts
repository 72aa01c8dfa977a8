/** Which header of a document's webhooks is taken for the signature, and what the package then has. */
import { expect, test } from 'vitest'
import { emitClient } from '../../generators/emit/client/client.ts'
import { signatureHeaderOf } from '../../generators/emit/client/webhooks.ts'
import { read } from '../ir/document.ts'

const PATTERN = '"^t=[0-9]{1,12}(?:,v1=[0-9a-f]{64}){1,8}$"'
const header = (name: string, schema: string) =>
  `{ name: ${name}, in: header, required: true, schema: ${schema} }`
const signature = (name: string) => header(name, `{ type: string, pattern: ${PATTERN} }`)
const number = header('Attempt', '{ type: integer }')
const id = header('Event-Id', '{ type: string, pattern: "^evt_[0-9a-z]{26}$" }')
const text = header('Note', '{ type: string }')

const webhook = (type: string, ...parameters: string[]) => `
  ${type}:
    post:
      parameters: [${parameters.join(', ')}]
      requestBody: { content: { application/json: { schema: { type: object, required: [type], properties: { type: { type: string, const: ${type} } } } } } }
      responses: { '200': { description: OK } }`

const document = (...webhooks: string[]) =>
  read(`paths: {}\n${webhooks.length > 0 ? `webhooks:${webhooks.join('')}\n` : ''}components:
  schemas:
    Mark: { type: string, pattern: ${PATTERN} }
`).api

test.each([
  { given: 'among others', webhooks: [webhook('a', number, text, id, signature('Sign'))], want: 'Sign' },
  {
    given: 'behind a reference',
    webhooks: [webhook('a', header('Sign', "{ $ref: '#/components/schemas/Mark' }"))],
    want: 'Sign',
  },
  {
    given: 'the same on every event',
    webhooks: [webhook('a', signature('Sign')), webhook('b', id, signature('Sign'))],
    want: 'Sign',
  },
  {
    given: 'another on another event',
    webhooks: [webhook('a', signature('Sign')), webhook('b', signature('X-Sign'))],
    want: undefined,
  },
  { given: 'on some events', webhooks: [webhook('a', signature('Sign')), webhook('b', id)], want: undefined },
  { given: 'nowhere', webhooks: [webhook('a', number, text, id)], want: undefined },
  {
    given: 'by its pattern only, whatever its name',
    webhooks: [webhook('a', header('Signature', '{ type: string, pattern: "^sha256=[0-9a-f]{64}$" }'))],
    want: undefined,
  },
  { given: 'without events', webhooks: [], want: undefined },
])('a signature header $given is found as $want', ({ webhooks, want }) => {
  expect(signatureHeaderOf(document(...webhooks))).toBe(want)
})

function filesOf(...webhooks: string[]): ReadonlyMap<string, string> {
  const files = emitClient([document(...webhooks)], new Map(), {
    package: { name: 'things', version: '1.0.0' },
  })
  return new Map(files.map(({ path, text }) => [path, text]))
}

const events = (files: ReadonlyMap<string, string>) => files.get('client/src/2030-01-01/events.ts') ?? ''
const index = (files: ReadonlyMap<string, string>) => files.get('client/src/2030-01-01/index.ts') ?? ''

test('signed events have a type, a verifier and a page', () => {
  const files = filesOf(webhook('thing.made', signature('"it\'s"')))
  expect(events(files)).toContain('export type WebhookEvent = EventOf<webhooks>\n')
  expect(index(files)).toContain(
    "  return verifyDelivery<WebhookEvent>('it\\'s', body, headers, secret, options)\n",
  )
  expect(files.get('client/GUIDE.md')).toContain("      case 'thing.made':\n")
})

test('events that are signed in another way have their type alone', () => {
  const files = filesOf(webhook('thing.made', id))
  expect(events(files)).toContain('export type WebhookEvent = ')
  expect(index(files)).not.toContain('verifyDelivery')
  expect(files.get('client/GUIDE.md')).not.toContain('## Webhooks')
})

test('a package of a document without events does not mention them', () => {
  const files = filesOf()
  expect(index(files)).not.toMatch(/WebhookE|unwrap/)
  expect(files.get('client/GUIDE.md')).not.toContain('## Webhooks')
})
