/** Payout destinations: when they become active, when they are denied, their events, and which one is the default. */
import { ENVIRONMENTS, type Environment } from '../../../runtime/platform/environment.ts'
import { addressOf } from '../chain/node.ts'
import type { Merchant } from '../merchant.ts'
import { DOOMED } from '../sanctions.ts'
import { type Evidence, read, rowsOf } from './evidence.ts'
import { fail, mustEqual } from './must.ts'

interface DestinationRow {
  readonly id: string
  readonly status: string
  readonly address: string | null
  readonly active_at: number | null
  readonly list_number: number
  readonly created: number
}

interface Shown {
  readonly id: string
  readonly status: string
  readonly updated: string
}

/** Types of the events of a destination, by its status. */
const PATHS: Readonly<Record<string, readonly string[]>> = {
  inactive: ['created'],
  active: ['created activated'],
  denied: ['created denied', 'created activated denied'],
  disabled: ['created disabled', 'created activated disabled'],
}

/** Work that is due is done within this time, and one late poll. */
const SOON_MS = 3_600_000

export async function destinationsAreRight(evidence: Evidence, merchant: Merchant): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    const rows = await rowsOf<DestinationRow>(evidence, environment, merchant, 'payout_destinations')
    const known = [...merchant.destinations].filter(([, each]) => each.environment === environment)
    mustEqual(
      rows.map(({ id }) => id),
      known.map(([id]) => id).toSorted(),
      `the destinations of ${merchant.name} in ${environment}`,
    )
    const [clock] = await rowsOf<{ offset_ms: number }>(
      evidence,
      environment,
      merchant,
      'settlement_clocks',
      'tenant_id',
    )
    const events = await rowsOf<{ type: string; body: string; created: number }>(
      evidence,
      environment,
      merchant,
      'events',
      'sequence',
    )
    for (const row of rows) {
      standsInTime(row, evidence, merchant, clock?.offset_ms ?? 0)
      const own = events
        .filter(({ type }) => type.startsWith('payout_destination.'))
        .map(({ type, body, created }) => ({
          kind: type.split('.')[1]!,
          created,
          shown: (JSON.parse(body) as { data: { payout_destination: Shown } }).data.payout_destination,
        }))
        .filter(({ shown }) => shown.id === row.id)
      const path = own.map(({ kind }) => kind).join(' ')
      if (!PATHS[row.status]?.includes(path))
        fail(`destination ${row.id} is ${row.status} after the events ${path}`)
      for (const { kind, shown, created } of own) {
        const status = kind === 'created' ? 'inactive' : kind === 'activated' ? 'active' : kind
        mustEqual(shown.status, status, `what payout_destination.${kind} tells of ${row.id}`)
        if (Math.abs(Date.parse(shown.updated) - created) > SOON_MS / 60)
          fail(`the event payout_destination.${kind} of ${created} tells of ${shown.updated}`)
      }
      const activated = own.find(({ kind }) => kind === 'activated')
      if (activated && activated.created + (clock?.offset_ms ?? 0) < row.active_at!)
        fail(`destination ${row.id} was activated too early`)
    }
    const [json] = await read<{ id: string }>(
      evidence.db,
      `SELECT id FROM ${environment}.payout_destinations
        WHERE tenant_id = $1 AND (type = 'bank_account') <> (bank_account IS NOT NULL)`,
      merchant.tenantId,
    )
    if (json) fail(`destination ${json.id} has a bank account that its type does not have`)
    await defaultIsKnown(evidence, merchant, environment, rows)
  }
}

/** The status follows from the clock and from the list of sanctions. */
function standsInTime(
  { id, status, active_at, address, list_number, created }: DestinationRow,
  { now, lateMs, faults, wallets: { readAt } }: Evidence,
  { name }: Merchant,
  offset: number,
): void {
  const late = lateMs + SOON_MS
  if (status === 'inactive' && active_at! < now + offset - late)
    fail(`destination ${id} of ${name} is still inactive, although it was due at ${active_at}`)
  if (status === 'active' && active_at! > now + offset)
    fail(`destination ${id} of ${name} is active too early`)
  const isScreened = readAt !== undefined && readAt < now - late
  const isDoomed = address?.endsWith(`:${addressOf(`${name}${DOOMED}`)}`) ?? false
  const isOpen = status === 'inactive' || status === 'active'
  if (isDoomed && (isScreened ? isOpen : readAt === undefined && status === 'denied'))
    fail(`the wallet ${id} of ${name} is ${status}, and the list was read at ${readAt}`)
  if (faults === 0 && status === 'active' && isScreened && created < readAt && list_number === 0)
    fail(`destination ${id} of ${name} was not screened again`)
}

async function defaultIsKnown(
  evidence: Evidence,
  merchant: Merchant,
  environment: Environment,
  rows: readonly DestinationRow[],
): Promise<void> {
  const defaults = await rowsOf<{ destination_id: string }>(
    evidence,
    environment,
    merchant,
    'payout_defaults',
    'tenant_id',
  )
  const [found] = defaults
  const row = rows.find(({ id }) => id === found?.destination_id)
  if (row && !['inactive', 'active'].includes(row.status))
    fail(`the default destination of ${merchant.name} is ${row.status}`)
  const wanted = merchant.defaults[environment].at(-1)?.id
  if (merchant.isExact)
    mustEqual(found?.destination_id, wanted, `the default destination of ${merchant.name} in ${environment}`)
}
