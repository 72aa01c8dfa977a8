/**
 * A fake bank for development and tests. It listens on loopback, keeps payments in memory, and validates requests like a
 * bank: the bearer token, the idempotency key, the amount, the currency and the routing number.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { matching, members, oneOf, type ShapeCheck, text, within } from '../../passes/wallets/fakes/shapes.ts'

export interface StandInPayment {
  readonly id: string
  readonly key: string
  /** The request body. */
  readonly order: string
  /** Cents. */
  readonly amount: number
  /** Milliseconds since the epoch. */
  readonly created: number
  status: 'pending' | 'settled' | 'failed' | 'returned'
  failure_code?: string
}

export interface BankStandIn {
  readonly url: string
  /** All payments, each once. */
  readonly payments: readonly StandInPayment[]
  readonly requests: readonly { readonly method: string; readonly path: string; readonly status: number }[]
  /** Whether payments settle when they are read. If false, a test settles them. */
  settles: boolean
  /** Called before each request takes effect. A returned number becomes the response status. */
  fault: (method: string) => 'hang' | number | undefined
  /** Called after a request has taken effect. `hang` drops the response. */
  afterTaken: (method: string) => 'hang' | undefined
  close(): Promise<void>
}

interface FakeBankAnswer {
  readonly status: number
  readonly body: unknown
}

const MAX_BODY = 16 * 1024

/** Number of payments in an answer to a list request. */
const PAGE = 100

/** Checks an ABA routing number: its digits, weighted by 3, 7 and 1 in turn, must add up to a multiple of ten. */
const routing: ShapeCheck = (value, at) => {
  const digits = typeof value === 'string' && /^[0-9]{9}$/.test(value) ? [...value] : []
  const sum = digits.reduce((total, digit, place) => total + Number(digit) * [3, 7, 1][place % 3]!, 0)
  return sum > 0 && sum % 10 === 0 ? undefined : `Invalid value at '${at}': not a routing number`
}

const ORDER = members({
  'amount!': (value, at) =>
    Number.isSafeInteger(value)
      ? within(1, 1e15)(value, at)
      : `Invalid value at '${at}': not a whole number of cents`,
  'currency!': oneOf('usd'),
  'reference!': matching(/^po_[0-9a-z]{26}$/, 'not a reference'),
  'account!': members({
    'holder_name!': text,
    'account_number!': matching(/^[0-9A-Za-z]{4,34}$/, 'not an account number'),
    'routing_number!': routing,
    'country!': matching(/^[A-Z]{2}$/, 'not a country code'),
  }),
})

/**
 * Starts the fake bank.
 * @param token bearer token that requests must have.
 */
export async function startBankStandIn(token: string): Promise<BankStandIn> {
  const payments: StandInPayment[] = []
  const requests: { method: string; path: string; status: number }[] = []
  const pay = (key: string | undefined, order: string): FakeBankAnswer => {
    if (!key) return { status: 400, body: { error: 'the Idempotency-Key header is missing' } }
    const known = payments.find((each) => each.key === key)
    if (known)
      return known.order === order ? shown(201, known) : { status: 409, body: { error: 'key reused' } }
    const given = parse(order)
    const wrong = ORDER(given, 'payment')
    if (wrong !== undefined) return { status: 422, body: { error: wrong, failure_code: 'invalid_account' } }
    const { amount, reference } = given as { amount: number; reference: string }
    if (reference !== key)
      return { status: 422, body: { error: 'the reference differs from the Idempotency-Key' } }
    const payment: StandInPayment = {
      id: `pay_${randomBytes(12).toString('hex')}`,
      key,
      order,
      amount,
      created: Date.now(),
      status: 'pending',
    }
    payments.push(payment)
    return shown(201, payment)
  }
  const look = (id: string): FakeBankAnswer => {
    const payment = payments.find((each) => each.id === id)
    if (!payment) return { status: 404, body: { error: 'the payment does not exist' } }
    if (bank.settles && payment.status === 'pending') payment.status = 'settled'
    return shown(200, payment)
  }
  /** Lists at most a page of the payments, oldest first. */
  const list = (query: URLSearchParams): FakeBankAnswer => {
    const since = Date.parse(query.get('created_after') ?? '')
    const after = payments.findIndex(({ id }) => id === query.get('after'))
    const page = payments.slice(after + 1).filter(({ created }) => created >= since)
    return { status: 200, body: { payments: page.slice(0, PAGE).map(listed) } }
  }
  const answer = async (request: IncomingMessage): Promise<FakeBankAnswer> => {
    const { method, url: path = '', headers } = request
    const body = await readBody(request)
    if (!bears(headers.authorization, token))
      return { status: 401, body: { error: 'the bearer token is missing or wrong' } }
    if (method === 'POST' && path === '/payments') return pay(String(headers['idempotency-key'] ?? ''), body)
    if (method === 'GET' && path.startsWith('/payments?'))
      return list(new URL(path, 'http://bank.invalid').searchParams)
    const id = /^\/payments\/(\w+)$/.exec(path)?.[1]
    if (method === 'GET' && id !== undefined) return look(id)
    return { status: 404, body: { error: 'the path does not exist' } }
  }
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: path = '' } = request
    const fault = bank.fault(method)
    if (fault === 'hang') return
    const { status, body } =
      fault === undefined
        ? await answer(request).catch(() => ({
            status: 400,
            body: { error: 'the request body cannot be read' },
          }))
        : { status: fault, body: {} }
    requests.push({ method, path, status })
    if (bank.afterTaken(method) === 'hang') return
    response.writeHead(status, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(body))
  }
  const server = createServer((request, response) => {
    serve(request, response).catch((error: Error) => response.destroy(error))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  server.unref()
  const bank: BankStandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    payments,
    requests,
    settles: true,
    fault: () => undefined,
    afterTaken: () => undefined,
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
  return bank
}

const shown = (status: number, { id, status: stands, failure_code }: StandInPayment): FakeBankAnswer => ({
  status,
  body: { id, status: stands, ...(failure_code !== undefined && { failure_code }) },
})

function listed({ id, key, status, amount, order }: StandInPayment): object {
  const { account } = JSON.parse(order)
  const { account_number, routing_number } = account
  return { id, status, reference: key, amount, account: { last4: account_number.slice(-4), routing_number } }
}

function bears(authorization: string | undefined, token: string): boolean {
  const [given, wanted] = [Buffer.from(authorization ?? ''), Buffer.from(`Bearer ${token}`)]
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined // fails every check
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY) throw new Error('the request body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
