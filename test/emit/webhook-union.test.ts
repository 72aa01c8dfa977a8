/** The union of webhook bodies that a document is served with. */
import { expect, test } from 'vitest'
import { withWebhookUnion } from '../../generators/emit/documents/webhook-union.ts'
import { read } from '../ir/document.ts'

const event = (constant: string) =>
  `{ type: object, required: [object, type], properties: { object: { const: event }, type: ${constant} } }`

const webhook = (body: string) =>
  `{ post: { requestBody: { content: { application/json: { schema: ${body} } } }, responses: { 2XX: { description: Received. } } } }`

const ref = (name: string) => webhook(`{ $ref: '#/components/schemas/${name}' }`)

function unionOf(webhooks: Readonly<Record<string, string>>, schemas: Readonly<Record<string, string>>) {
  const lines = (of: Readonly<Record<string, string>>) =>
    Object.entries(of).map(([name, text]) => `    ${name}: ${text}\n`)
  const { api } = read(
    `paths: {}\nwebhooks:\n${lines(webhooks).join('')}components:\n  schemas:\n${lines(schemas).join('')}`,
  )
  const served = withWebhookUnion(api.published, api)
  if (served === api.published) return undefined
  return (served.components as { readonly schemas: Readonly<Record<string, unknown>> }).schemas.WebhookEvent
}

const LENT = event('{ const: book.lent }')
const RETURNED = event('{ const: book.returned }')

test('a constant property that differs in every body discriminates the union', () => {
  const schemas = { Lent: LENT, Returned: RETURNED }
  expect(unionOf({ 'book.lent': ref('Lent'), 'book.returned': ref('Returned') }, schemas)).toEqual({
    description: 'The body of any webhook.',
    oneOf: [{ $ref: '#/components/schemas/Lent' }, { $ref: '#/components/schemas/Returned' }],
    discriminator: {
      propertyName: 'type',
      mapping: { 'book.lent': '#/components/schemas/Lent', 'book.returned': '#/components/schemas/Returned' },
    },
  })
})

test.each([
  ['only one webhook', { a: ref('Lent') }, { Lent: LENT }],
  ['bodies with the same constant', { a: ref('Lent'), b: ref('Copy') }, { Lent: LENT, Copy: LENT }],
  ['the same body twice', { a: ref('Lent'), b: ref('Lent') }, { Lent: LENT }],
  [
    'a type that is not constant',
    { a: ref('Lent'), b: ref('Any') },
    { Lent: LENT, Any: event('{ type: string }') },
  ],
  ['a body that has no name', { a: ref('Lent'), b: webhook(RETURNED) }, { Lent: LENT }],
  [
    'a schema of the same name',
    { a: ref('Lent'), b: ref('WebhookEvent') },
    { Lent: LENT, WebhookEvent: RETURNED },
  ],
])('a document with %s is served unchanged', (_, webhooks, schemas) => {
  expect(unionOf(webhooks, schemas)).toBeUndefined()
})
