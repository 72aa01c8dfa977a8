/** `svc seed`: fills the sandbox with months of plausible history, by calling the API. */
import { hash } from 'node:crypto'
import { type Command, Option } from 'commander'
import type { Client } from '../../generated/client/src/2026-05-19/index.ts'
import { readCount } from './option-values.ts'
import { render } from './print.ts'
import { type PlannedPurchase, planSeed, type SeedOptions, type SeedStep } from './seed-plan.ts'
import { requireSandbox, type SvcRunner, type SvcTerminal } from './svc-session.ts'

export function addSeed(program: Command, run: SvcRunner): void {
  const count = (flags: string, text: string, usual: number) =>
    new Option(flags, text).argParser(readCount).default(usual)
  program
    .command('seed')
    .description('fill the sandbox with months of plausible history')
    .addOption(count('--months <count>', 'months of history, of 30 days each', 6))
    .addOption(count('--passes <count>', 'passes to issue', 1000))
    .addOption(count('--cards <count>', 'cards to issue', 50))
    .addOption(
      new Option('--purchases <count>', 'card purchases (default: two for each card)').argParser(readCount),
    )
    .addOption(count('--seed <number>', 'selects the names, amounts and order', 1))
    .addHelpText('after', HELP)
    .action((words: Omit<SeedOptions, 'purchases'> & { purchases?: number }, self: Command) =>
      run(self, async (session, terminal) => {
        requireSandbox(session, 'seed')
        const options = { ...words, purchases: words.purchases ?? words.cards * 2 }
        terminal.print(render(await seed(session.client, options, terminal), terminal.json).trimEnd())
      }),
    )
}

const HELP = `
The history begins at the current time of the settlement clock, which the command advances through the days. In a
sandbox that was created with \`svc sandboxes create --starts-at\`, everything has the dates of those days, each
calendar month gets a statement and a reconciliation of settlements, and the clock moves to the present at the end.
In any other sandbox, \`created\` of passes, cards and transactions is the time of the run.

The same options give the same history. If the command is interrupted, run it again with the same options within
24 hours: it continues where it stopped. For more history in the same sandbox, use a different --seed.

The command keeps to the rate limits, which determine how long it takes.

Examples:
  svc sandboxes create "Half a year" --starts-at 2026-01-01
  svc seed
  svc seed --months 6 --passes 10000 --cards 500 --seed 7`

/** The client repeats a request until the rate limit allows it, and gives up at last if the service keeps failing. */
const MAX_RETRIES = 30

const HOUR_MS = 3_600_000

/** A month of the plan. */
const MONTH_S = 30 * 86_400

/** Most that the clock can advance in one request. */
const MAX_SECONDS = 31_536_000

type Call = { readonly idempotencyKey: string; readonly maxRetries: number }

/** Identifiers of the created objects, in the order of creation. */
interface Seeded {
  readonly templates: string[]
  readonly passes: string[]
  readonly cardholders: string[]
  readonly cards: string[]
  readonly transactions: string[]
  readonly settlements: Set<string>
  readonly reports: string[]
  installs: number
  scans: number
  /** Whether the sandbox dates what is created by its clock, because that began in the past; known from the first pass on. */
  isDated: boolean
  /** The clock at the beginning and now, in milliseconds since the epoch; NaN before the first step. */
  began: number
  now: number
}

/** Carries out the plan, and returns the numbers of created objects. Every request has a key that follows from the options. */
async function seed(client: Client, options: SeedOptions, terminal: SvcTerminal): Promise<object> {
  const seeded: Seeded = {
    ...{ templates: [], passes: [], cardholders: [], cards: [], transactions: [] },
    ...{ settlements: new Set(), reports: [], installs: 0, scans: 0 },
    ...{ isDated: false, began: Number.NaN, now: Number.NaN },
  }
  let requests = 0
  const next = (): Call => {
    requests += 1
    return { idempotencyKey: keyOf(options, requests), maxRetries: MAX_RETRIES }
  }
  for (const step of planSeed(options)) {
    await perform(client, step, seeded, next)
    const months = step.action === 'clock' ? step.until / MONTH_S : 0
    if (months > 0 && Number.isInteger(months)) {
      const { passes, cards, transactions } = seeded
      terminal.say(
        `month ${months} of ${options.months}: ${passes.length} passes, ${cards.length} cards, ${transactions.length} card transactions`,
      )
    }
  }
  if (seeded.isDated) await catchUp(client, seeded)
  const { installs, scans, settlements, reports, now } = seeded
  return {
    seed: options.seed,
    pass_templates: seeded.templates.length,
    passes: seeded.passes.length,
    installs,
    scans,
    cardholders: seeded.cardholders.length,
    cards: seeded.cards.length,
    card_transactions: seeded.transactions.length,
    settlements: settlements.size,
    treasury_reports: reports.length,
    settlement_clock: new Date(now).toISOString(),
  }
}

/** Returns the Idempotency-Key of a request: a UUID of version 8 (RFC 9562, section 5.8). */
function keyOf({ months, passes, cards, purchases, seed: number }: SeedOptions, request: number): string {
  const digest = hash('sha256', `svc seed ${[months, passes, cards, purchases, number, request].join(' ')}`)
  const parts = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
  ]
  return [...parts, digest.slice(20, 32)].join('-')
}

/** Marks the created objects, so that the merchant can recognize them. */
const METADATA = { made_by: 'svc seed' }

async function perform(client: Client, step: SeedStep, made: Seeded, next: () => Call): Promise<void> {
  switch (step.action) {
    case 'template': {
      const body = { name: step.name, kind: step.kind, brand: BRAND, fields: FIELDS, metadata: METADATA }
      made.templates.push((await client.createPassTemplate({ body, ...next() })).id)
      return
    }
    case 'funding':
      await client.simulateFunding({ body: { amount: step.amount }, ...next() })
      return
    case 'passes': {
      const template_id = made.templates[step.template]!
      const passes = step.holders.map((name) => ({ template_id, holder: { name }, metadata: METADATA }))
      const { results } = await client.createPassBatch({ body: { passes }, ...next() })
      for (const result of results) {
        if (result.status !== 'succeeded') throw new Error(`a pass was refused: ${result.error.message}`)
        made.passes.push(result.pass.id)
        // Hours after the beginning, the clock of any other sandbox is ahead of the service's.
        made.isDated = made.now - Date.parse(result.pass.created) < HOUR_MS
      }
      return
    }
    case 'install':
      await client.simulateInstall({
        body: { pass_id: made.passes[step.pass]!, platform: step.platform },
        ...next(),
      })
      made.installs += 1
      return
    case 'scan':
      await client.simulateScan({
        body: { pass_id: made.passes[step.pass]!, mode: 'verify', scanner: step.scanner },
        ...next(),
      })
      made.scans += 1
      return
    case 'cardholder': {
      const body = { type: 'individual', name: step.name, email: step.email, metadata: METADATA } as const
      made.cardholders.push((await client.createCardholder({ body, ...next() })).id)
      return
    }
    case 'card': {
      const cardholder_id = made.cardholders[step.cardholder]!
      const body = { cardholder_id, type: 'virtual', metadata: METADATA } as const
      made.cards.push((await client.createCard({ body, ...next() })).id)
      return
    }
    case 'purchase':
      made.transactions.push(await purchase(client, step, made.cards[step.card]!, next))
      return
    case 'clock': {
      const before = made.now
      const seconds = Number.isNaN(before) ? 1 : Math.round((made.began - before) / 1000) + step.until
      await advance(client, made, { seconds: Math.max(1, seconds) }, next())
      if (Number.isNaN(before)) made.began = made.now
      else if (made.isDated) await closeMonth(client, made, before, next)
    }
  }
}

async function advance(
  client: Client,
  made: Seeded,
  body: { readonly seconds: number },
  call?: Call,
): Promise<void> {
  const { now, data } = await client.advanceSettlementClock({ body, ...call })
  for (const { id } of data) made.settlements.add(id)
  made.now = Date.parse(now)
}

/** If a calendar month has ended, creates its reports. @param before the clock until now. */
async function closeMonth(client: Client, made: Seeded, before: number, next: () => Call): Promise<void> {
  const [start, end] = [monthOf(before), monthOf(made.now)]
  if (start === end) return
  const interval = {
    interval_start: new Date(start).toISOString(),
    interval_end: new Date(end).toISOString(),
  }
  for (const type of ['statement', 'settlement_reconciliation'] as const) {
    made.reports.push((await client.createTreasuryReport({ body: { type, ...interval }, ...next() })).id)
  }
}

function monthOf(time: number): number {
  const date = new Date(time)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

/** Moves the clock to the present. Not repeated with the rest, because the distance depends on the time of the run. */
async function catchUp(client: Client, made: Seeded): Promise<void> {
  for (;;) {
    const seconds = Math.ceil((Date.now() - made.now) / 1000)
    if (seconds <= 0) return
    // A little further, because a clock that is behind stays so, and this machine may be behind the service.
    await advance(client, made, { seconds: Math.min(seconds + 60, MAX_SECONDS) })
  }
}

const BRAND = { background_color: '#112233', foreground_color: '#ffffff' }
const FIELDS = [{ key: 'points', label: 'Points', value: '0' }]

/** Simulates a purchase with everything that follows. Returns the identifier of the card transaction. */
async function purchase(
  client: Client,
  { amount, merchant, entry_method, end }: PlannedPurchase,
  card_id: string,
  next: () => Call,
): Promise<string> {
  if (end === 'declined') {
    const body = { card_id, amount, merchant, reason: 'suspected_fraud' } as const
    return (await client.simulateDecline({ body, ...next() })).id
  }
  const { id } = await client.simulateAuthorization({
    body: { card_id, amount, merchant, entry_method },
    ...next(),
  })
  const of = { card_transaction_id: id }
  if (end === 'reversed') await client.simulateReversal({ body: of, ...next() })
  if (end === 'cleared' || end === 'refunded') await client.simulateClearing({ body: of, ...next() })
  if (end === 'refunded') await client.simulateRefund({ body: of, ...next() })
  return id
}
