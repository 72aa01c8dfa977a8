/** Tests a function that issues passes, without the service. */
import { type Client, createClient, ResponseError } from '@dateline/passes/2026-05-19'
import { createMock } from '@dateline/passes/2026-05-19/testing'

async function welcome(client: Client, name: string): Promise<string> {
  const pass = await client.passes.create({ template_id: 'tpl_01jx4b9c8d7e6f5g4h3j2k1m0n', holder: { name } })
  return `Hello ${pass.holder.name}, your pass is ${pass.status}`
}

const mock = createMock()
const client = createClient({ baseUrl: 'https://api.test', apiKey: 'test', fetch: mock.fetch })
mock.answer('passes.create', { status: 'issued', holder: { name: 'Ada', email: null } })
mock.refuse('passes.create', 503, { code: 'unavailable' }, { times: 1 })

const greeting = await welcome(client, 'Ada') // retried after the refusal
const [first, ...retries] = mock.requests
const invalid = client.passes.create({ template_id: 'gold' })
const refused = await invalid.catch((error: unknown) => error instanceof ResponseError && error.description)
console.log(JSON.stringify({ greeting, sent: first?.body, retries: retries.length, refused }))
