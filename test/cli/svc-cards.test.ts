/** `svc cards simulate`: what it takes is what the document says, and it does what it says. */
import { beforeAll, expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { readDocument } from '../../runtime/api/explanation.ts'
import { SIMULATIONS } from '../../runtime/cli/card-simulations.ts'
import { planSeed } from '../../runtime/cli/seed-plan.ts'
import { runSvc } from '../../runtime/cli/svc-run.ts'
import { verifyLedger } from '../../runtime/operator/ledger.ts'
import { makeCardholder, SHIPPING } from '../cards/fixtures.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'

const service = useService()
let send: Send
let secret: string
let tenant: string
beforeAll(async () => {
  tenant = await makeTenant(service, 'enterprise', current)
  secret = (await makeKey(service, tenant, { scope: 'admin' })).secret
  send = speak(service.urls.sandbox, { secret, version: current })
})

async function run(key: string, ...words: readonly string[]) {
  const [printed, said]: [string[], string[]] = [[], []]
  const code = await runSvc(['--api-key', key, '--base-url', service.urls.sandbox, ...words], {
    print: (text) => void printed.push(text),
    say: (line) => void said.push(line),
    interruption: () => new AbortController().signal,
  })
  return { code, printed: printed.join('\n'), said: said.join('\n') }
}

async function simulate(...words: readonly string[]) {
  const { code, printed, said } = await run(secret, 'cards', 'simulate', ...words, '--json')
  expect([code, said], words.join(' ')).toEqual([0, ''])
  return JSON.parse(printed)
}

interface Schema {
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly type?: string
  readonly enum?: readonly string[]
  readonly default?: unknown
}

interface RequestBody {
  readonly content: { readonly 'application/json': { readonly schema: Schema } }
}

const document = readDocument(current).parsed() as unknown as {
  readonly paths: Record<string, Record<string, { operationId?: string; requestBody?: RequestBody }>>
  readonly components: { readonly schemas: Record<string, Schema> }
}

const resolve = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : resolve(document.components.schemas[schema.$ref.split('/').at(-1)!]!)

/** Members of a body, of objects in it theirs; those that must stand there are marked. */
function membersOf(schema: Schema, before = '', isRequired = true): string[] {
  const { properties, required = [] } = resolve(schema)
  if (!properties) return [`${before}${isRequired ? ' !' : ''}`]
  return Object.entries(properties).flatMap(([name, member]) =>
    membersOf(member, before === '' ? name : `${before}.${name}`, isRequired && required.includes(name)),
  )
}

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.values(item).map((operation) => ({ ...operation, path })),
)

test('there is one for each simulation of cards, but for matches of cardholders', () => {
  const ids = operations
    .filter(({ path }) => path.startsWith('/v1/test/cards/'))
    .map(({ operationId }) => operationId)
  expect(
    Object.values(SIMULATIONS)
      .map(({ operation }) => operation)
      .toSorted(),
  ).toEqual(ids.toSorted())
})

test.each(Object.entries(SIMULATIONS))(
  'svc cards simulate %s takes what the document says',
  (_, { operation, of, options }) => {
    const { requestBody } = operations.find(({ operationId }) => operationId === operation)!
    const said = membersOf(requestBody!.content['application/json'].schema)
    const taken = options.map(({ field, required, ...given }) =>
      required || given.default !== undefined ? `${field} !` : field,
    )
    // A merchant that may be left out is one that has a name and a category where it stands.
    const strict = (names: readonly string[]) =>
      names.map((name) => name.replace(/^(merchant\..*) !$/, '$1')).toSorted()
    expect(strict([`${of} !`, ...taken])).toEqual(strict(said))
  },
)

const YES_OR_NO = new Map<unknown, string>([
  [true, 'yes'],
  [false, 'no'],
])

test.each(Object.entries(SIMULATIONS))(
  'svc cards simulate %s reads and explains as the document does',
  (_, { operation, options }) => {
    const { requestBody } = operations.find(({ operationId }) => operationId === operation)!
    for (const { field, reads, text } of options) {
      const path = field.split('.')
      let schema = requestBody!.content['application/json'].schema
      for (const name of path) schema = resolve(schema).properties![name]!
      const { type, enum: members } = resolve(schema)
      expect(reads, field).toBe(type === 'integer' ? 'number' : type === 'boolean' ? 'boolean' : undefined)
      const [, absent] = /\(default: (\w+)\)$/.exec(text) ?? []
      expect(absent, field).toBe(YES_OR_NO.get(schema.default) ?? schema.default)
      const [, named] = /: ([\w, ]+), …$/.exec(text) ?? []
      if (named !== undefined) expect(members, field).toEqual(expect.arrayContaining(named.split(', ')))
    }
  },
)

test('a card is used, and what becomes of that is told', async () => {
  await send('/v1/test/funding', { body: { amount: 10_000 } })
  const cardholder_id = await makeCardholder(send)
  const card = (await send('/v1/cards', { body: { cardholder_id, type: 'virtual' } })).body.id
  const authorized = await simulate(
    'authorization',
    card,
    '--amount',
    '1000',
    '--merchant',
    'Inn',
    '--city',
    'Oakland',
  )
  expect(authorized).toMatchObject({
    status: 'authorized',
    merchant: { name: 'Inn', category_code: '5812', country: 'US', city: 'Oakland' },
  })
  const { id } = authorized
  const verified = await simulate('authorization', card, '--amount', '0')
  expect(verified).toMatchObject({ status: 'authorized', amounts: { requested: 0, held: 0 } })
  expect((await simulate('reversal', verified.id)).status).toBe('reversed')
  expect((await simulate('increment', id, '--amount', '500')).amounts.held).toBe(1500)
  expect((await simulate('reversal', id, '--amount', '100')).amounts.held).toBe(1400)
  expect((await simulate('clearing', id, '--amount', '400', '--final', 'no')).amounts.held).toBe(1000)
  expect((await simulate('expiry', id)).status).toBe('cleared')
  expect((await simulate('refund', id)).amounts.refunded).toBe(400)
  expect((await simulate('force-post', card, '--amount', '300')).status).toBe('cleared')
  const declined = await simulate('decline', card, '--amount', '1', '--reason', 'suspected_fraud')
  expect(declined.decline_reason.code).toBe('suspected_fraud')
  const physical = await send('/v1/cards', { body: { cardholder_id, type: 'physical', shipping: SHIPPING } })
  expect((await simulate('shipping', physical.body.id, '--status', 'shipped')).shipping.status).toBe(
    'shipped',
  )
})

test('a simulation that is misspelt, lacking or live is refused; help has examples', async () => {
  const card = 'card_01jxg19h8j7k6m5n4p3q2r1s0t'
  const words = (...more: readonly string[]) => run(secret, 'cards', 'simulate', ...more)
  expect(await words('authorization', card)).toMatchObject({
    code: 2,
    said: expect.stringContaining('--amount'),
  })
  expect((await words('authorization', card, '--amount', '12.50')).said).toContain('whole number of cents')
  expect((await words('clearing', 'ctx_x', '--final', 'maybe')).said).toContain('Expected yes or no.')
  expect((await words('theft', card)).code).toBe(2)
  expect(await words('authorization', card, '--amount', '1')).toMatchObject({
    code: 1,
    said: expect.stringContaining('card_id'),
  })
  const live = await makeKey(service, tenant, { environment: 'live' })
  const refused = await run(live.secret, 'cards', 'simulate', 'expiry', 'ctx_x')
  expect(refused).toMatchObject({ code: 2, said: expect.stringContaining('live key') })
  const help = await words('--help')
  for (const { example } of Object.values(SIMULATIONS))
    expect(help.printed).toContain(`svc cards simulate ${example}`)
})

test('a question that nobody answers needs a service that may ask this machine', async () => {
  expect(await run(secret, 'trigger', 'authorization_decision.timed_out')).toMatchObject({
    code: 2,
    said: expect.stringContaining('SVC_WEBHOOK_ALLOW'),
  })
  expect((await send('/v1/authorization_endpoint')).status).toBe(404)
})

const DAY_MS = 86_400_000

/** Creates a named sandbox whose clock starts at a time. Returns its key. */
async function openDated(key: string, starts_at: string): Promise<string> {
  const ask = speak(service.urls.sandbox, { secret: key, version: current })
  return (await ask('/v1/sandboxes', { body: { name: 'Dated', starts_at } })).body.secret_key
}

test('svc seed fills two sandboxes with the same history, which adds up, and only once; one has its dates', async () => {
  const words = ['seed', '--months', '1', '--passes', '20', '--cards', '2', '--purchases', '8', '--json']
  const fill = async (startsAt?: string) => {
    const account = await makeTenant(service, 'enterprise', current)
    const { secret: common } = await makeKey(service, account, { scope: 'admin' })
    const key = startsAt === undefined ? common : await openDated(common, startsAt)
    const { code, printed } = await run(key, ...words)
    expect(code).toBe(0)
    const { settlement_clock, treasury_reports, ...told } = JSON.parse(printed)
    const ask = speak(service.urls.sandbox, { secret: key, version: current })
    const all = async (path: string) => (await ask(`${path}?limit=100`)).body.data
    const uses = await all('/v1/card_transactions')
    const settlements = await all('/v1/settlements')
    const passes = await all('/v1/passes')
    await verifyLedger(service.operator, account)
    expect(told).toMatchObject({ passes: 20, cards: 2, cardholders: 1, card_transactions: 8 })
    expect([passes.length, uses.length, settlements.length]).toEqual([20, 8, told.settlements])
    expect(settlements.every(({ status }: { status: string }) => status === 'settled')).toBe(true)
    const sumOf = (name: string) =>
      uses.reduce((sum: number, { amounts }: { amounts: Record<string, number> }) => sum + amounts[name]!, 0)
    const settled = settlements.reduce(
      (sum: number, each: { transaction_amount: number }) => sum + each.transaction_amount,
      0,
    )
    expect(settled).toBe(sumOf('refunded') - sumOf('cleared'))
    const days = settlements.map(({ period_start }: { period_start: string }) => period_start)
    expect(new Set(days).size).toBe(days.length)
    expect(Date.parse(days[0]) - Date.parse(days.at(-1))).toBeGreaterThan(10 * 86_400_000)
    const history = {
      ...told,
      passes: passes.map(({ holder }: { holder: { name: string } }) => holder.name),
      uses: uses.map(({ merchant, amounts, status }: Record<string, unknown>) => [merchant, amounts, status]),
    }
    const dates = [passes, uses].map((rows) =>
      rows.map(({ created }: { created: string }) => created).toSorted(),
    )
    const reports = (await all('/v1/treasury_reports')).map(({ type, created }: Record<string, string>) => [
      type,
      created,
    ])
    return {
      history,
      dates,
      reports,
      again: async () => JSON.parse((await run(key, ...words)).printed),
      printed,
    }
  }
  const { history, again, printed } = await fill()
  // An interrupted run continues where it stopped: the same requests again change nothing.
  expect(await again()).toEqual(JSON.parse(printed))
  const start = new Date(service.clock.now - 40 * DAY_MS)
  const dated = await fill(start.toISOString())
  expect(dated.history).toEqual(history)
  for (const [index, each] of dated.dates.entries()) {
    const days = each.map((created: string) => Math.floor((Date.parse(created) - start.getTime()) / DAY_MS))
    expect([days[0], days.at(-1)]).toEqual(index === 0 ? [1, 29] : [8, 29])
  }
  const closed = expect.stringMatching(/^2026-05-01T/)
  expect(dated.reports).toEqual([
    ['settlement_reconciliation', closed],
    ['statement', closed],
  ])
  const [first, other] = [1, 2].map((seed) => [
    ...planSeed({ months: 1, passes: 20, cards: 2, purchases: 8, seed }),
  ])
  expect(other).not.toEqual(first)
})
