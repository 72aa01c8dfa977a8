/** Compares the network's settlement report with the settlement lines and the ledger, and says why they differ. */
import type { Database } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'
import { filesOf } from './queries.ts'
import {
  type IdsByKey,
  readBooked,
  readEarly,
  readLate,
  readOpenExceptions,
  readUnposted,
  sumLines,
} from './reconcile-queries.ts'
import { readReport, SETTLED, type Settled } from './settlement-report.ts'

/** Why the network and the service differ. */
export type DifferenceCause =
  | 'missing_file'
  | 'file_not_imported'
  | 'open_exception'
  | 'late_clearing'
  | 'missing_line'
  | 'unknown_to_network'
  | 'amount_differs'
  | 'rate_differs'
  | 'fee_differs'
  | 'not_in_ledger'

export interface DayDifference {
  readonly card_program_id: string | null
  readonly interchange_category: string | null
  /** The members that differ: what the network says and what the service has. Cents and counts, as text. */
  readonly differs: Readonly<Record<string, { readonly network: string; readonly service: string }>>
  /** The most likely cause first. */
  readonly causes: readonly { readonly cause: DifferenceCause; readonly ids: readonly string[] }[]
}

export interface Reconciliation {
  readonly environment: Environment
  readonly date: string
  /** Number of card programs and categories that were compared. */
  readonly compared: number
  readonly differences: readonly DayDifference[]
}

const NOTHING = Object.fromEntries(SETTLED.map((name) => [name, 0n])) as Settled

/** What is known of a day beside its sums. */
interface Evidence {
  readonly files: readonly { readonly id: string; readonly isImported: boolean }[]
  readonly exceptions: IdsByKey
  readonly late: IdsByKey
  readonly early: IdsByKey
  readonly booked: IdsByKey
}

/**
 * Compares a day. Memory depends on the numbers of card programs and categories. Throws `ClearingFileError` if the report
 * cannot be read.
 * @param control the owner's connection.
 * @param date ISO 8601 date of the network's business day.
 * @param path of the network's settlement report.
 */
export async function reconcile(
  control: Database,
  environment: Environment,
  date: string,
  path: string,
): Promise<Reconciliation> {
  const report = readReport(path, environment, date)
  const lines = await sumLines(control, environment, date)
  const keys = [...new Set([...report.keys(), ...lines.keys()])].toSorted()
  const differing = keys.filter((key) =>
    SETTLED.some((name) => (report.get(key) ?? NOTHING)[name] !== (lines.get(key) ?? NOTHING)[name]),
  )
  const evidence = differing.length > 0 ? await gather(control, environment, date, differing) : undefined
  const differences = differing.map((key) =>
    describe(key, report.get(key) ?? NOTHING, lines.get(key) ?? NOTHING, evidence!),
  )
  const unposted = await readUnposted(control, environment, date)
  for (const ids of unposted.values())
    differences.push({
      ...{ card_program_id: null, interchange_category: null, differs: {} },
      causes: [{ cause: 'not_in_ledger', ids }],
    })
  return { environment, date, compared: keys.length, differences }
}

async function gather(
  control: Database,
  environment: Environment,
  date: string,
  keys: readonly string[],
): Promise<Evidence> {
  const files = await filesOf(control, environment, date)
  return {
    files: files.map(({ id, imported }) => ({ id, isImported: imported !== null })),
    exceptions: await readOpenExceptions(control, environment, date),
    late: await readLate(control, environment, date, keys),
    early: await readEarly(control, environment, date, keys),
    booked: await readBooked(control, environment, date, keys),
  }
}

function describe(key: string, network: Settled, service: Settled, evidence: Evidence): DayDifference {
  const [program = '', category = ''] = key.split(' ')
  const names = SETTLED.filter((name) => network[name] !== service[name])
  return {
    card_program_id: program || null,
    interchange_category: category,
    differs: Object.fromEntries(
      names.map((name) => [name, { network: `${network[name]}`, service: `${service[name]}` }]),
    ),
    causes: causesOf(key, program, network, service, evidence),
  }
}

function causesOf(
  key: string,
  program: string,
  network: Settled,
  service: Settled,
  { files, exceptions, late, early, booked }: Evidence,
): DayDifference['causes'] {
  const causes: { cause: DifferenceCause; ids: readonly string[] }[] = []
  const add = (cause: DifferenceCause, ids: readonly string[] = [], isCertain = false) => {
    if (ids.length > 0 || isCertain) causes.push({ cause, ids })
  }
  const countDiffers =
    network.clearings_count !== service.clearings_count || network.refunds_count !== service.refunds_count
  const amountDiffers =
    network.clearings_amount !== service.clearings_amount || network.refunds_amount !== service.refunds_amount
  const ofBucket = booked.get(key) ?? []
  const isMissing =
    network.clearings_count > service.clearings_count || network.refunds_count > service.refunds_count
  if (isMissing) {
    add('missing_file', [], files.length === 0)
    add(
      'file_not_imported',
      files.filter(({ isImported }) => !isImported).map(({ id }) => id),
    )
    add('open_exception', [
      ...(exceptions.get(program) ?? []),
      ...(program === '' ? [] : (exceptions.get('') ?? [])),
    ])
    add('late_clearing', late.get(key))
    if (causes.length === 0)
      add(
        'missing_line',
        files.map(({ id }) => id),
        true,
      )
  } else if (countDiffers) {
    add('late_clearing', early.get(key))
    if (causes.length === 0) add('unknown_to_network', ofBucket, true)
  } else if (amountDiffers) add('amount_differs', ofBucket, true)
  // Interchange and fees follow the clearings, so they have a cause of their own only if these agree.
  if (countDiffers || amountDiffers) return causes
  if (network.interchange_amount !== service.interchange_amount) add('rate_differs', ofBucket, true)
  if (network.fees_amount !== service.fees_amount) add('fee_differs', ofBucket, true)
  return causes
}
