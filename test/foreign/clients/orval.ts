/** The cases with a client of orval. */
import { checkCases } from './cases.js'
import type { Error as ApiError, BrandInput, WebhookEvent } from './client/api.js'
import * as api from './client/api.js'

const brand: BrandInput = { background_color: '#123456', foreground_color: '#FFFFFF' }
const keyed = (key: string) => ({ 'Idempotency-Key': key })

type Result = { readonly status: number; readonly headers: Headers; readonly data: object }
type Success<R extends Result> = Exclude<R['data'], ApiError>

const answer = <R extends Result>({ status, headers, data }: R) => ({
  status,
  headers,
  data: 'error' in data ? undefined : (data as Success<R>),
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
