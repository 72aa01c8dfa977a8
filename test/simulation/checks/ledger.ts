/** The ledger, computed a second time from what happened, and compared entry by entry. */
import { ENVIRONMENTS } from '../../../runtime/platform/environment.ts'
import type { Merchant } from '../merchant.ts'
import { type Evidence, read, rowsOf } from './evidence.ts'
import { fail, mustEqual } from './must.ts'

interface EntryRow {
  readonly id: string
  readonly cause: string
  readonly account_id: string
  readonly amount: number
  readonly previous: number
  readonly current: number
  readonly version: number
  readonly created: number
}

interface AccountRow {
  readonly id: string
  readonly balance: number
  readonly held: number
  readonly version: number
}

/** Each account is the chain of its entries, and each transfer takes from one account what it gives to another. */
export async function ledgerIsBalanced(evidence: Evidence, merchant: Merchant): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    const place = `the ${environment} ledger of ${merchant.name}`
    const entries = await rowsOf<EntryRow>(
      evidence,
      environment,
      merchant,
      'ledger_entries',
      'account_id, version',
    )
    const accounts = await rowsOf<AccountRow>(evidence, environment, merchant, 'ledger_accounts')
    for (const { id, balance, version } of accounts) {
      const own = entries.filter(({ account_id }) => account_id === id)
      let sum = 0
      for (const [index, { amount, previous, current, version }] of own.entries()) {
        if (version !== index + 1 || previous !== sum || current !== sum + amount)
          fail(`${place}: entry ${index + 1} of ${id} does not follow the entry before it`)
        sum = current
      }
      if (sum !== balance || version !== own.length)
        fail(`${place}: ${id} has ${balance}, and entries for ${sum}`)
    }
    if (entries.some(({ account_id }) => !accounts.some(({ id }) => id === account_id)))
      fail(`${place}: an entry has no account`)
    await transfersAreWhole(evidence, merchant, environment, entries)
    await holdsAddUp(evidence, merchant, environment, accounts)
    await checkpointsAreTrue(evidence, merchant, environment, entries)
  }
}

type Environment = (typeof ENVIRONMENTS)[number]

async function transfersAreWhole(
  evidence: Evidence,
  merchant: Merchant,
  environment: Environment,
  entries: readonly EntryRow[],
): Promise<void> {
  const causes = Map.groupBy(entries, ({ cause }) => cause)
  const transactions = await rowsOf<{ cause: string; created: number }>(
    evidence,
    environment,
    merchant,
    'ledger_transactions',
    'cause',
  )
  for (const { cause, created } of transactions) {
    const [one, other, ...more] = causes.get(cause) ?? []
    const isWhole = one && other && more.length === 0 && one.amount === -other.amount && one.amount !== 0
    if (!isWhole || one.created !== created || other.created !== created)
      fail(`the ${environment} ledger of ${merchant.name}: ${cause} is not one transfer`)
  }
  if (transactions.length !== causes.size)
    fail(`the ${environment} ledger of ${merchant.name} has entries without a transaction`)
}

async function holdsAddUp(
  evidence: Evidence,
  merchant: Merchant,
  environment: Environment,
  accounts: readonly AccountRow[],
): Promise<void> {
  const holds = await rowsOf<{ id: string; amount: number; created: number }>(
    evidence,
    environment,
    merchant,
    'ledger_holds',
  )
  const ended = await rowsOf<{ hold_id: string; created: number }>(
    evidence,
    environment,
    merchant,
    'ledger_resolutions',
    'hold_id',
  )
  const endOf = new Map(ended.map(({ hold_id, created }) => [hold_id, created]))
  for (const { hold_id } of ended)
    if (!holds.some(({ id }) => id === hold_id)) fail(`hold ${hold_id} ended without a beginning`)
  for (const { id, created } of holds)
    if ((endOf.get(id) ?? created) < created) fail(`hold ${id} ended before it began`)
  const open = (at: number) =>
    holds.reduce(
      (sum, { id, amount, created }) =>
        created < at && (endOf.get(id) ?? Number.POSITIVE_INFINITY) >= at ? sum + amount : sum,
      0,
    )
  const held = accounts.find(({ id }) => id === 'program_funds')?.held ?? 0
  mustEqual(held, open(Number.POSITIVE_INFINITY), `what ${merchant.name} has held in ${environment}`)
  const totals = await rowsOf<{ until: number; held: number }>(
    evidence,
    environment,
    merchant,
    'ledger_hold_totals',
    'until',
  )
  const HOUR_MS = 3_600_000
  const kept = evidence.now - 3 * HOUR_MS - evidence.lateMs
  const hours = [...holds, ...ended].map(({ created }) => created - (created % HOUR_MS) + HOUR_MS)
  for (const until of hours)
    if (until < kept && !totals.some((each) => each.until === until))
      fail(`no sum of holds is kept at ${new Date(until).toISOString()} for ${merchant.name}`)
  const strange = totals.find(({ until }) => !hours.includes(until) || until > evidence.now - HOUR_MS)
  if (strange) fail(`a sum of holds is kept at ${new Date(strange.until).toISOString()} for ${merchant.name}`)
  for (const { until, held } of totals) {
    if (until % 3_600_000 !== 0 || until > evidence.now) fail(`a sum of holds is kept at ${until}`)
    mustEqual(held, open(until), `what ${merchant.name} had held at ${new Date(until).toISOString()}`)
  }
}

async function checkpointsAreTrue(
  evidence: Evidence,
  merchant: Merchant,
  environment: Environment,
  entries: readonly EntryRow[],
): Promise<void> {
  const points = await read<{ at: number; positions: Readonly<Record<string, number | string>> }>(
    evidence.db,
    `SELECT at, positions FROM ${environment}.ledger_checkpoints WHERE tenant_id = $1 ORDER BY at`,
    merchant.tenantId,
  )
  for (const { at, positions } of points) {
    const wanted: Record<string, number> = {}
    for (const { account_id, version, created } of entries)
      if (created < at) wanted[account_id] = Math.max(wanted[account_id] ?? 0, version)
    const found = Object.entries(positions).map(([id, version]) => [id, Number(version)] as const)
    mustEqual(
      Object.fromEntries(found.filter(([, version]) => version > 0)),
      wanted,
      `the ${environment} checkpoint of ${merchant.name} at ${new Date(at).toISOString()}`,
    )
  }
}

/** Where the money of a payout is, by status. */
const PLACES = {
  pending: 'payout_in_transit',
  in_transit: 'payout_in_transit',
  paid: 'bank',
  failed: 'settlement_payable',
  canceled: 'settlement_payable',
  returned: 'settlement_payable',
} as const

export type PayoutStatus = keyof typeof PLACES

/** Fails unless the ledger has the transfers of a payout that went through these states, and no others. */
export function payoutIsPosted(
  entries: readonly EntryRow[],
  { id, amount }: { readonly id: string; readonly amount: number },
  path: readonly { readonly status: PayoutStatus; readonly at: number }[],
): void {
  const wanted: object[] = []
  let from: string = 'settlement_payable'
  for (const { status, at } of path) {
    const to = PLACES[status]
    if (to === from) continue
    wanted.push({ cause: `${id}/${wanted.length + 1}`, from, to, amount, at })
    from = to
  }
  const found = [...Map.groupBy(entries, ({ cause }) => cause)]
    .filter(([cause]) => cause.startsWith(`${id}/`))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([cause, sides]) => {
      const [taken, given] = [sides.find((each) => each.amount < 0), sides.find((each) => each.amount > 0)]
      return {
        cause,
        from: taken?.account_id,
        to: given?.account_id,
        amount: given?.amount,
        at: given?.created,
      }
    })
  mustEqual(found, wanted, `what the ledger has of payout ${id}`)
}
