/** The cases with a client of openapi-typescript and openapi-fetch. */
import { checkCases } from './cases.js'
import type { components } from './client/schema.js'
import { client } from './passes.js'

type Schemas = components['schemas']

const brand: Schemas['BrandInput'] = { background_color: '#123456', foreground_color: '#FFFFFF' }
const keyed = (key: string) => ({ header: { 'Idempotency-Key': key } })

const answer = <T>(result: { data?: T; error?: Schemas['Error']; response: Response }) => ({
  status: result.response.status,
  headers: result.response.headers,
  data: result.data,
  error: result.error?.error,
})

checkCases({
  createPassTemplate: async (name, key) =>
    answer(
      await client.POST('/v1/pass_templates', {
        params: keyed(key),
        body: { name, kind: 'loyalty', brand },
      }),
    ),
  createPass: async (template_id, name, key) =>
    answer(await client.POST('/v1/passes', { params: keyed(key), body: { template_id, holder: { name } } })),
  getPass: async (pass_id) =>
    answer(await client.GET('/v1/passes/{pass_id}', { params: { path: { pass_id } } })),
  listPasses: async (query) => answer(await client.GET('/v1/passes', { params: { query } })),
  createWebhookEndpoint: async (url, key) =>
    answer(
      await client.POST('/v1/webhook-endpoints', {
        params: keyed(key),
        body: { url, enabled_events: ['pass.created'] },
      }),
    ),
  createdPass: (body) => {
    const event: Schemas['WebhookEvent'] = JSON.parse(body)
    return event.type === 'pass.created' ? event.data.pass : undefined
  },
})
