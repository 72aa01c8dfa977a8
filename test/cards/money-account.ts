/** A tenant of the money model: over HTTP, with an endpoint that decides and a chain that pays where a run has them. */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { current } from '../../generated/versions.ts'
import { openTransferListener } from '../../runtime/money/payouts/transfer-listener.ts'
import { makeKey, makeTenant, type TestService } from '../support/service.ts'
import { type DefaultAction, LIMITS, type Operation } from './money-model.ts'
import { type Made, requestOf } from './money-operations.ts'
import { pickOf } from './treasury-model.ts'

export interface Answered {
  readonly status: number
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: what it is depends on the operation
  readonly body: any
}

export interface Sent {
  readonly path: string
  readonly body: object
  readonly key: string
  readonly text: string
}

export interface Account extends Made {
  readonly service: TestService
  readonly tenantId: string
  readonly secret: string
  readonly settlements: string[]
  readonly payouts: string[]
  /** The POSTs so far, with their answers. */
  readonly sent: Sent[]
  readonly endpoint: Endpoint | undefined
  readonly asks: DefaultAction | undefined
  send(
    path: string,
    body?: object,
    more?: { readonly key?: string; readonly method?: string },
  ): Promise<Answered>
  /** All pages of a list, oldest first. */
  list(path: string): Promise<Answered['body'][]>
}

/** Decides as the name of the merchant says. */
export interface Endpoint {
  readonly url: string
  /** Answers what was left for later. */
  release(): void
  stop(): void
}

export async function openEndpoint(): Promise<Endpoint> {
  const held: ServerResponse[] = []
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { merchant, amounts } = JSON.parse(Buffer.concat(chunks).toString()).data.card_transaction
    if (merchant.name === 'late') held.push(response)
    else if (merchant.name === 'garbage') response.end('{"approved": "yes"}')
    else {
      const half = merchant.name === 'half' && { amount: Math.ceil(amounts.requested / 2) }
      response.end(JSON.stringify({ approved: merchant.name !== 'decline', ...half }))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    release: () => {
      for (const response of held.splice(0)) response.end('{"approved": true}')
    },
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

interface AccountOptions {
  /** What decides, with what is done where it does not; absent: the rules alone decide. */
  readonly decides?: { readonly endpoint: Endpoint; readonly byDefault: DefaultAction } | undefined
  /** What the tenant is pinned to; requests are made in the newest. */
  readonly version?: string
}

export async function openAccount(
  service: TestService,
  { decides, version = current }: AccountOptions = {},
): Promise<Account> {
  const tenantId = await makeTenant(service, 'enterprise', version)
  const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
  const send: Account['send'] = async (path, body, { key = crypto.randomUUID(), method } = {}) => {
    service.clock.monotonic += 10_000
    const headers = {
      Authorization: `Bearer ${secret}`,
      'Service-Version': current,
      'Content-Type': 'application/json',
    }
    const response = await fetch(service.urls.sandbox + path, {
      method: method ?? (body ? 'POST' : 'GET'),
      headers: { ...headers, ...(body && { 'Idempotency-Key': key }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, body: JSON.parse(text) }
  }
  const list: Account['list'] = async (path) => {
    const all = []
    for (let after = ''; ; ) {
      const { body } = await send(`${path}${path.includes('?') ? '&' : '?'}order=asc&limit=100${after}`)
      all.push(...body.data)
      if (!body.has_more) return all
      after = `&starting_after=${body.next_cursor}`
    }
  }
  const { body: cardholder } = await send('/v1/cardholders', { name: 'Ada Moreau' })
  const cards: string[] = []
  for (const amount of LIMITS) {
    const spending_controls = { spending_limits: amount === undefined ? [] : [{ amount, interval: 'daily' }] }
    const order = { cardholder_id: cardholder.id, type: 'virtual', spending_controls }
    cards.push((await send('/v1/cards', order)).body.id)
  }
  const account: Account = {
    ...{
      service,
      tenantId,
      secret,
      cards,
      transactions: [],
      disputes: [],
      settlements: [],
      destinations: [],
      payouts: [],
    },
    ...{ sent: [], endpoint: decides?.endpoint, asks: decides?.byDefault, send, list },
  }
  if (decides) await setTimeLimit(account, 2000)
  return account
}

/** How long the account's endpoint is waited for, in milliseconds. */
async function setTimeLimit({ send, endpoint, asks }: Account, timeout_ms: number): Promise<void> {
  const body = { url: endpoint!.url, timeout_ms, default_action: asks }
  const { status, text } = await send('/v1/authorization_endpoint', body, { method: 'PUT' })
  if (status !== 200) throw new Error(text)
}

/** Does an operation; undefined where there is nothing to do it to. Whatever follows from it is known to the account then. */
export async function perform(account: Account, operation: Operation): Promise<Answered | undefined> {
  await find(account, operation)
  if (operation.kind === 'chain') return tell(account, operation)
  const request = requestOf(account, operation)
  if (!request) return undefined
  const isLate =
    operation.kind === 'authorize' && operation.reply === 'late' && account.endpoint !== undefined
  if (isLate) await setTimeLimit(account, 100)
  const key = crypto.randomUUID()
  const { path, body, method } = request
  const answer = await account.send(path, body, { key, ...(method && { method }) })
  if (!method) account.sent.push({ path, body, key, text: answer.text })
  if (isLate) {
    account.endpoint.release()
    await setTimeLimit(account, 2000)
  }
  if (answer.status < 300) note(account, answer.body)
  return answer
}

const MADE = {
  card_transaction: 'transactions',
  dispute: 'disputes',
  payout_destination: 'destinations',
} as const

function note(account: Account, { id, object }: Answered['body']): void {
  const ids = MADE[object as keyof typeof MADE]
  if (ids && !account[ids].includes(id)) account[ids].push(id)
}

const OF_SETTLEMENTS = new Set(['step', 'to', 'fail_settlement'])
const OF_PAYOUTS = new Set(['cancel_payout', 'fail_payout', 'return_payout', 'chain'])

/** Learns what has come about without being asked for. */
async function find(account: Account, { kind }: Operation): Promise<void> {
  const { settlements, payouts, list } = account
  if (OF_SETTLEMENTS.has(kind)) {
    const found = await list('/v1/settlements')
    settlements.splice(0, settlements.length, ...found.map(({ id }) => id))
  }
  if (OF_PAYOUTS.has(kind)) {
    // Identifiers of one millisecond are in no order; events are.
    const events = await list('/v1/events?type=payout.created')
    payouts.splice(0, payouts.length, ...events.map(({ data }) => data.payout.id))
  }
}

const CHAIN = { chain: 'eip155:31337', hash: `0x${'9f'.repeat(32)}`, confirmations: 3 }

async function tell(
  { service, tenantId, payouts }: Account,
  { pick, state }: Operation & { readonly kind: 'chain' },
): Promise<Answered | undefined> {
  const id = pickOf(payouts, pick)
  if (id === undefined) return undefined
  const parts = { ...service, wakeUpChannel: { publish: service.wakeUps.notify } }
  const listener = await openTransferListener(parts, 'sandbox', tenantId)
  await service.database.sandbox.transaction((db) =>
    listener.changed(db, id, { ...CHAIN, state }, service.clock.now),
  )
  listener.committed()
  return { status: 200, text: '', body: {} }
}
