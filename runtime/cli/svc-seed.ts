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
The history begins at the current time of the settlement clock. After each day, the command advances the clock, so
that settlements close and holds expire. \`created\` of passes, cards and transactions is the time of the run.

The same options give the same history. If the command is interrupted, run it again with the same options within
24 hours: it continues where it stopped. For more history in the same sandbox, use a different --seed.

The command keeps to the rate limits, which determine how long it takes.

Examples:
  svc seed
  svc seed --months 6 --passes 10000 --cards 500 --seed 7`

/** The client repeats a request until the rate limit allows it, and gives up at last if the service keeps failing. */
const MAX_RETRIES = 30

type Call = { readonly idempotencyKey: string; readonly maxRetries: number }

/** Identifiers of the created objects, in the order of creation. */
interface Seeded {
  readonly templates: string[]
  readonly passes: string[]
  readonly cardholders: string[]
  readonly cards: string[]
  readonly transactions: string[]
  readonly settlements: Set<string>
  installs: number
  scans: number
  days: number
  now: string
}

/** Carries out the plan, and returns the numbers of created objects. Every request has a key that follows from the options. */
async function seed(client: Client, options: SeedOptions, terminal: SvcTerminal): Promise<object> {
  const seeded: Seeded = {
    ...{ templates: [], passes: [], cardholders: [], cards: [], transactions: [] },
    ...{ settlements: new Set(), installs: 0, scans: 0, days: 0, now: '' },
  }
  let requests = 0
  const next = (): Call => {
    requests += 1
    return { idempotencyKey: keyOf(options, requests), maxRetries: MAX_RETRIES }
  }
  for (const step of planSeed(options)) {
    await perform(client, step, seeded, next)
    if (step.action === 'clock' && seeded.days % 30 === 0 && seeded.days / 30 <= options.months) {
      const { passes, cards, transactions } = seeded
      terminal.say(
        `month ${seeded.days / 30} of ${options.months}: ${passes.length} passes, ${cards.length} cards, ${transactions.length} card transactions`,
      )
    }
  }
  const { installs, scans, settlements, now } = seeded
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
    settlement_clock: now,
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
      const { now, data } = await client.advanceSettlementClock({
        body: { seconds: step.seconds },
        ...next(),
      })
      for (const { id } of data) made.settlements.add(id)
      made.now = now
      made.days += 1
    }
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
