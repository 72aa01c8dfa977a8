/** Tells failures apart: by their class, and refusals also by their code. */
import {
  AuthenticationError,
  ConnectionError,
  createClient,
  InvalidRequestError,
  NotFoundError,
  ResponseError,
} from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })

function explain(error: unknown): string {
  if (error instanceof NotFoundError) return 'there is no such pass'
  if (error instanceof InvalidRequestError)
    return error.details.map(({ field, issue }) => `${field} ${issue}`).join()
  if (error instanceof AuthenticationError) return 'check the key'
  if (error instanceof ResponseError)
    return error.code === 'invalid_state' ? 'too late' : `${error.message}, see ${error.docUrl}`
  if (error instanceof ConnectionError) return 'try again later'
  throw error
}

const { id } = await client.passes.create({ template_id: process.env.TEMPLATE_ID ?? '' })
await client.passes.revoke(id)
const calls = [
  client.passes.retrieve('pass_00000000000000000000000000'),
  client.passes.create({ template_id: 'gold' }),
  client.withOptions({ apiKey: 'svc_sk_sandbox_wrong' }).me.retrieve(),
  client.passes.update(id, { fields: {} }),
  client.withOptions({ baseUrl: 'http://127.0.0.1:1', maxRetries: 0 }).me.retrieve(),
]
const failures = await Promise.all(calls.map((call) => call.then(() => 'done', explain)))
console.log(JSON.stringify({ failures }))
