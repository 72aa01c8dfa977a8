/** The cases with a client of kubb. */
import { checkCases } from './cases.js'
import type { Error as ApiError, BrandInput, WebhookEvent } from './client/index.js'
import * as api from './client/index.js'
import './passes.js'

const brand: BrandInput = { background_color: '#123456', foreground_color: '#FFFFFF' }
const keyed = (key: string) => ({ 'Idempotency-Key': key })

/** The client declares the data of a success, also where the service refused the request. */
const answer = <T extends object>({
  status,
  headers,
  data,
}: {
  status: number
  headers: Headers
  data: T | ApiError
}) => ({
  status,
  headers,
  data: 'error' in data ? undefined : (data as T),
  error: 'error' in data ? (data as ApiError).error : undefined,
})

checkCases({
  createPassTemplate: async (name, key) =>
    answer(await api.createPassTemplate({ name, kind: 'loyalty', brand }, keyed(key))),
  createPass: async (template_id, name, key) =>
    answer(await api.createPass({ template_id, holder: { name } }, keyed(key))),
  getPass: async (pass_id) => answer(await api.getPass(pass_id)),
  listPasses: async (query) => answer(await api.listPasses(query)),
  createWebhookEndpoint: async (url, key) =>
    answer(await api.createWebhookEndpoint({ url, enabled_events: ['pass.created'] }, keyed(key))),
  createdPass: (body) => {
    const event: WebhookEvent = JSON.parse(body)
    return event.type === 'pass.created' ? event.data.pass : undefined
  },
})
