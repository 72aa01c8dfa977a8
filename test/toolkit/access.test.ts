/** Read-only and write-only properties, end to end in two versions, with the types of handlers and clients. */
import { expect, test } from 'vitest'
import { createVersionedApi } from '../../generators/server/api.ts'
import { toNodeListener } from '../../generators/server/node.ts'
import type { Handlers } from '../golden/access/want/canonical/handlers.ts'
import * as old from '../golden/access/want/client/src/2030-01-01/index.ts'
import * as newest from '../golden/access/want/client/src/2030-06-01/index.ts'
import { versions } from '../golden/access/want/versions.ts'
import { listening } from './listening.ts'

const secrets: string[] = []
let ids = 0

const handlers: Handlers<undefined> = {
  async createAccount(_context, { body: { email, secret } }) {
    secrets.push(secret)
    return { status: 201, body: { id: `account_${++ids}`, email } }
  },
  async createTeam(_context, { body: { members } }) {
    secrets.push(...members.map(({ secret }) => secret))
    return { status: 201, body: members.map(({ email }) => ({ id: `account_${++ids}`, email })) }
  },
}

const api = createVersionedApi({ versions, handlers, context: () => undefined })
const base = listening(toNodeListener(api))
const options = () => ({ baseUrl: base(), maxRetries: 0 })
const oldClient = () => old.createClient({ ...options(), headers: { 'Api-Version': '2030-01-01' } })
const newClient = () => newest.createClient(options())

test('a request has no read-only property, and an answer no write-only one, in both versions', async () => {
  const made = await oldClient().createAccount({ body: { mail: 'a@b.test', password: 'long enough' } })
  expect(made).toEqual({ id: 'account_1', mail: 'a@b.test' })
  const members = [{ email: 'c@d.test', secret: 'long enough too' }]
  expect(await newClient().createTeam({ body: { name: 'one', members } })).toEqual([
    { id: 'account_2', email: 'c@d.test' },
  ])
  expect(secrets).toEqual(['long enough', 'long enough too'])
})

test('the types say so', () => {
  type Sent = NonNullable<Parameters<ReturnType<typeof newClient>['createAccount']>[0]>['body']
  type Answered = Awaited<ReturnType<ReturnType<typeof newClient>['createAccount']>>
  const sent: Sent = { email: 'a@b.test', secret: 'long enough' }
  const answered: Answered = { id: 'account_1', email: 'a@b.test' }
  // @ts-expect-error: requests have no id
  const wrong: Sent = { ...sent, id: 'account_1' }
  // @ts-expect-error: an answer has its id
  const incomplete: Answered = { email: 'a@b.test' }
  expect([answered.id, wrong.email, incomplete.email]).toEqual(['account_1', 'a@b.test', 'a@b.test'])
})

test('a write-only property is required and validated in a request; a read-only one can be sent back', async () => {
  const ask = async (body: object) => {
    const headers = { 'api-version': '2030-01-01', 'content-type': 'application/json' }
    const answer = await fetch(`${base()}/accounts`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return answer.status
  }
  const account = { mail: 'a@b.test', password: 'long enough' }
  expect(await ask({ mail: 'a@b.test' })).toBe(422)
  expect(await ask({ ...account, password: 'short' })).toBe(422)
  expect(await ask({ ...account, id: 'account_1' })).toBe(201)
})
