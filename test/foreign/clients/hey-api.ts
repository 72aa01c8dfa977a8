/** The cases with a client of hey-api. */
import { checkCases } from './cases.js'
import type { Error as ApiError, BrandInput, WebhookEvent } from './client/index.js'
import * as api from './client/index.js'
import './passes.js'

const brand: BrandInput = { background_color: '#123456', foreground_color: '#FFFFFF' }
const keyed = (key: string) => ({ 'Idempotency-Key': key })

const answer = <T>({ data, error, response }: { data?: T; error?: ApiError; response?: Response }) => {
  if (!response) throw new TypeError('The request failed without a response.', { cause: error })
  return { status: response.status, headers: response.headers, data, error: error?.error }
}

checkCases({
  createPassTemplate: async (name, key) =>
    answer(await api.createPassTemplate({ body: { name, kind: 'loyalty', brand }, headers: keyed(key) })),
  createPass: async (template_id, name, key) =>
    answer(await api.createPass({ body: { template_id, holder: { name } }, headers: keyed(key) })),
  getPass: async (pass_id) => answer(await api.getPass({ path: { pass_id } })),
  listPasses: async (query) => answer(await api.listPasses({ query })),
  createWebhookEndpoint: async (url, key) =>
    answer(
      await api.createWebhookEndpoint({
        body: { url, enabled_events: ['pass.created'] },
        headers: keyed(key),
      }),
    ),
  createdPass: (body) => {
    const event: WebhookEvent = JSON.parse(body)
    return event.type === 'pass.created' ? event.data.pass : undefined
  },
})
