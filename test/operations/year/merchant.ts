/** What a merchant does in a day, and the model of what the service must keep of it. */
import { randomUUID } from 'node:crypto'
import { versions } from '../../../generated/versions.ts'
import { until } from '../../support/programs.ts'
import type { Box, Sink } from './sink.ts'

const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

/** Days between two rotations of a key or of an endpoint’s secret, and between two treasury reports. */
export interface Habits {
  readonly rotationDays: number
  readonly reportDays: number
}

export interface Place {
  readonly url: string
  readonly liveUrl: string
  /** Runs the command of the operator. Throws if it fails. */
  admin(...words: string[]): Promise<Record<string, unknown>>
  /** Service time of the environments, in milliseconds since the epoch. */
  now(): number
  liveNow(): number
}

/** Amounts of authorizations, in cents: one is cleared, one is reversed, and one is left to expire. */
const [CLEARED, REVERSED, LEFT] = [4200, 700, 300]
const FUNDING = 6000
/** How long the category of the merchant holds an amount. */
const HOLD_MS = 7 * DAY_MS
/** Earlier versions name the category of a merchant. */
const shopOf = (version: string) => ({
  name: 'Harbor Diner',
  category_code: version < '2026-02-01' ? 'restaurants' : '5812',
  country: 'US',
})

const TEMPLATE = {
  name: 'Free coffee',
  kind: 'coupon',
  brand: { background_color: '#1E3A5F', foreground_color: '#FFFFFF' },
  fields: [{ key: 'offer', label: 'Offer', value: 'One coffee' }],
}

const ADDRESS = 'eip155:31337:0x52908400098527886E0F7030069857D2E4169EE7'

const PERSON = {
  name: 'Ada Moreau',
  date_of_birth: '1990-04-12',
  address: {
    line1: '500 Harbor Street',
    city: 'Oakland',
    state: 'CA',
    postal_code: '94607',
    country: 'US',
  },
}

/** Days of the trial plan in live. */
const TRIAL_DAYS = 30

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: what it is depends on the path
  readonly body: any
}

interface Question {
  readonly body?: object
  readonly key?: string
  readonly secret?: string
  readonly live?: boolean
}

interface ModelPass {
  status: 'issued' | 'redeemed' | 'revoked' | 'expired'
  readonly expiresAt: number
}

interface ModelUse {
  status: 'authorized' | 'cleared' | 'reversed' | 'expired'
  readonly amount: number
  readonly expiresAt: number
}

export type Merchant = Awaited<ReturnType<typeof openMerchant>>

/** Compares, and throws with both values if they differ. */
export function expectSame(what: string, found: unknown, expected: unknown): void {
  const [has, wants] = [JSON.stringify(found), JSON.stringify(expected)]
  if (has !== wants) throw new Error(`${what}: expected ${wants}, found ${has}`)
}

const isGone = (version: string, now: number) => {
  const sunset = versions.find(({ name }) => name === version)?.sunset
  return sunset !== undefined && Date.parse(sunset) <= now
}

/** Versions whose webhooks have the earlier name of the signature. */
const headerOf = (version: string): Box['header'] =>
  version < '2026-02-01' ? 'x-service-signature' : 'service-signature'

/** Creates a tenant with its keys, its endpoint, and what it needs for a day. */
export async function openMerchant(place: Place, sink: Sink, habits: Habits, index: number) {
  const plan = index % 5 === 3 ? 'trial' : 'enterprise'
  let version = versions.at(-1 - (index % versions.length))!.name
  const hasCards = version !== versions[0]!.name && plan === 'enterprise'
  const { admin } = place
  const created = await admin('tenant', 'create', '--name', `Merchant ${index + 1}`, '--plan', plan)
  const tenantId = String(created.id)
  const opened = place.now()
  const pinTo = async (name: string) => {
    for (const env of ['sandbox', 'live'])
      await admin('pin', 'set', '--tenant', tenantId, '--env', env, '--version', name)
    version = name
  }
  await pinTo(version)
  const createKey = (env: string) =>
    admin('key', 'create', '--tenant', tenantId, '--env', env, '--scope', 'admin')
  let key = (await createKey('sandbox')) as { readonly id: string; readonly secret: string }
  const liveKey = (await createKey('live')) as { readonly secret: string }
  const oldKeys: { readonly secret: string; readonly until: number }[] = []
  const box = sink.open()
  box.header = headerOf(version)

  const ask = async (
    method: string,
    path: string,
    { body, key: name, secret, live = false }: Question = {},
  ) => {
    const response = await fetch(`${live ? place.liveUrl : place.url}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${secret ?? (live ? liveKey : key).secret}`,
        ...(body && { 'Content-Type': 'application/json', 'Idempotency-Key': name ?? randomUUID() }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const answer: Answer = {
      status: response.status,
      headers: response.headers,
      text,
      body: text && JSON.parse(text),
    }
    return answer
  }
  const post = async (path: string, body: object, more: Question = {}): Promise<Answer> => {
    const answer = await ask('POST', path, { ...more, body })
    if (answer.status >= 300)
      throw new Error(`${tenantId} (${version}): POST ${path}: ${answer.status} ${answer.text}`)
    return answer
  }

  const passes = new Map<string, ModelPass>()
  const uses = new Map<string, ModelUse>()
  const events = new Map<string, number>()
  const reports: number[] = []
  const clearedDays = new Set<number>()
  /** Live passes, by the time of their issue. */
  const livePasses: number[] = []
  let [funded, objects, repeated] = [0, 0, '']

  const note = (type: string) => events.set(type, (events.get(type) ?? 0) + 1)

  await until('the key to work', async () => (await ask('GET', '/v1/passes')).status === 200)
  const templateId: string = (await post('/v1/pass_templates', TEMPLATE)).body.id
  const liveTemplateId: string = (await post('/v1/pass_templates', TEMPLATE, { live: true })).body.id
  const endpoint = await post('/v1/webhook-endpoints', { url: box.url, enabled_events: ['*'] })
  const endpointId: string = endpoint.body.id
  box.secrets = [endpoint.body.secret]
  let cardId = ''
  if (hasCards) {
    const holder = await post('/v1/cardholders', { name: 'Ada Moreau' })
    cardId = (await post('/v1/cards', { cardholder_id: holder.body.id, type: 'virtual' })).body.id
    await post('/v1/payout_destinations', {
      type: 'usdc_address',
      address: ADDRESS,
      holder_name: 'Harbor Coffee LLC',
      default: true,
    })
  }

  const learnPass = ({ body }: Answer, expiresAt = Number.POSITIVE_INFINITY): string => {
    passes.set(body.id, { status: 'issued', expiresAt })
    objects += 1
    note('pass.created')
    return body.id
  }

  /** Issues five passes: one stays, one is redeemed and archived, one is revoked, and two expire. */
  const usePasses = async (day: number) => {
    const issue = async (more: object = {}) => post('/v1/passes', { template_id: templateId, ...more })
    learnPass(await issue())
    const coupon = learnPass(await issue())
    const scan = await post('/v1/test/passes/simulate_scan', { pass_id: coupon, mode: 'redeem' })
    expectSame('the scan', scan.body.result, 'accepted')
    passes.get(coupon)!.status = 'redeemed'
    note('pass.redeemed')
    await post(`/v1/passes/${coupon}/archive`, {})
    note('pass.archived')
    const revoked = learnPass(await issue())
    await post(`/v1/passes/${revoked}/revoke`, {})
    passes.get(revoked)!.status = 'revoked'
    note('pass.revoked')
    // Half days, so that no expiry is near the time at which a day is compared.
    for (const days of [0.5, 1.5 + ((day + index) % 5)]) {
      const expiresAt = Math.round(place.now() + days * DAY_MS)
      learnPass(await issue({ expires_at: new Date(expiresAt).toISOString() }), expiresAt)
    }
  }

  /** An idempotency key gives the stored answer for a day, and then a new one. */
  const repeat = async () => {
    const body = { template_id: templateId }
    if (repeated) {
      const later = await post('/v1/passes', body, { key: repeated })
      expectSame('the replay after a day', later.headers.get('idempotency-replayed'), null)
      learnPass(later)
    }
    repeated = randomUUID()
    const made = await post('/v1/passes', body, { key: repeated })
    learnPass(made)
    const again = await post('/v1/passes', body, { key: repeated })
    expectSame('the replay', [again.text, again.headers.get('idempotency-replayed')], [made.text, 'true'])
  }

  const useCards = async (day: number) => {
    await post('/v1/test/funding', { amount: FUNDING })
    funded += FUNDING
    for (const amount of [CLEARED, REVERSED, LEFT]) {
      const use = { card_id: cardId, amount, merchant: shopOf(version) }
      const { body } = await post('/v1/test/cards/simulate_authorization', use)
      expectSame('the authorization', body.status, 'authorized')
      uses.set(body.id, { status: 'authorized', amount, expiresAt: Date.parse(body.created) + HOLD_MS })
      objects += 1
      note('card.transaction.authorized')
      if (amount === LEFT) continue
      const [path, status] =
        amount === CLEARED ? (['clearing', 'cleared'] as const) : (['reversal', 'reversed'] as const)
      await post(`/v1/test/cards/simulate_${path}`, { card_transaction_id: body.id })
      uses.get(body.id)!.status = status
      note(`card.transaction.${status}`)
    }
    clearedDays.add(Math.floor(place.now() / DAY_MS))
    await post('/v1/tokens', { type: 'person', person: PERSON })
    if (day % habits.reportDays === 0) {
      const end = place.now() - HOUR_MS
      const interval = {
        interval_start: new Date(end - habits.reportDays * DAY_MS).toISOString(),
        interval_end: new Date(end).toISOString(),
      }
      await post('/v1/treasury_reports', { type: 'ledger_entries', ...interval })
      reports.push(place.now())
    }
  }

  /** Rotates the key or the secret on some days, each merchant on different ones. */
  const rotate = async (day: number) => {
    const turn = (day + index) % habits.rotationDays
    if (turn === 0) {
      const before = key
      key = (await admin('key', 'rotate', key.id)) as typeof key
      await until('the new key to work', async () => (await ask('GET', '/v1/passes')).status === 200)
      oldKeys.push({ secret: before.secret, until: place.now() + DAY_MS })
      objects += 1
      const { status } = await ask('GET', '/v1/passes', { secret: before.secret })
      expectSame('the rotated key on its last day', status, 200)
    }
    if (turn === habits.rotationDays >> 1) {
      const { body } = await post(`/v1/webhook-endpoints/${endpointId}/rotate_secret`, {})
      box.secrets = [body.secret, box.secrets[0]!]
    }
  }

  /** A version past its sunset is refused; its events have been in the oldest supported version since then. */
  const upgrade = async () => {
    if (!isGone(version, place.now())) {
      const { headers } = await ask('GET', '/v1/passes')
      const isOld = version < '2026-02-01'
      const told = [headers.has('deprecation'), headers.has('sunset')]
      expectSame(`the headers Deprecation and Sunset of ${version}`, told, [isOld, isOld])
      return
    }
    const { status, body } = await ask('GET', '/v1/passes')
    expectSame('a version past its sunset', [status, body.error?.code], [410, 'version_gone'])
    await pinTo(body.error.successor_version)
    await until('the upgrade', async () => (await ask('GET', '/v1/passes')).status === 200)
  }

  return {
    tenantId,
    box,
    /** Number of objects created in the sandbox. */
    objects: () => objects,
    events,
    livePasses,
    async liveDay(day: number) {
      await upgrade()
      await rotate(day)
      await usePasses(day)
      await repeat()
      if (hasCards) await useCards(day)
    },
    /** Issues a live pass. On the trial plan, only the first 30 days allow it. */
    async useLive() {
      const answer = await ask('POST', '/v1/passes', { body: { template_id: liveTemplateId }, live: true })
      const isOver = plan === 'trial' && place.liveNow() >= opened + TRIAL_DAYS * DAY_MS
      expectSame('a live pass', answer.status, isOver ? 402 : 201)
      if (!isOver) livePasses.push(place.liveNow())
    },
    /** Called before the clock moves to a time that is a day later: from then on, replaced secrets do not sign. */
    expectNight(next: number) {
      box.secrets = box.secrets.slice(0, 1)
      if (isGone(version, next)) box.header = 'service-signature'
    },
    /** Brings the model to the present time. */
    passTime() {
      const now = place.now()
      for (const pass of passes.values()) {
        if (pass.status !== 'issued' || pass.expiresAt > now) continue
        pass.status = 'expired'
        note('pass.expired')
      }
      for (const use of uses.values()) {
        if (use.status !== 'authorized' || use.expiresAt > now) continue
        use.status = 'expired'
        note('card.transaction.expired')
      }
    },
    /** Keys that were rotated more than a day ago do not work. */
    async checkKeys() {
      for (const { secret, until: end } of oldKeys.filter(({ until: end }) => end <= place.now())) {
        const { status } = await ask('GET', '/v1/passes', { secret })
        expectSame(`the key that ended at ${new Date(end).toISOString()}`, status, 401)
      }
    },
    /** The balance, and the counts that the API gives. */
    async checkAnswers() {
      const expired = [...passes.values()].filter(({ status }) => status === 'expired').length
      const counted = await ask('GET', '/v1/passes/count?status=expired')
      expectSame('the count of expired passes', counted.body.count, expired)
      if (!hasCards) return
      const sum = (status: ModelUse['status']) =>
        [...uses.values()].reduce((total, use) => total + (use.status === status ? use.amount : 0), 0)
      const held = sum('authorized')
      const { body } = await ask('GET', '/v1/balance')
      expectSame('the balance', [body.available, body.held], [funded - sum('cleared') - held, held])
    },
    /** Rows that the service must have, by table and status. */
    expected(): ReadonlyMap<string, number> {
      const today = Math.floor(place.now() / DAY_MS)
      const counts = new Map<string, number>()
      const add = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)
      for (const { status } of passes.values()) add(`pass ${status}`)
      for (const { status } of uses.values()) add(`card transaction ${status}`)
      for (const day of clearedDays) {
        add(day < today ? 'settlement settled' : 'settlement open')
        if (day < today) add('payout paid')
      }
      for (const _ of reports) add('report succeeded')
      return counts
    },
  }
}
