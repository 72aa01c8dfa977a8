/**
 * Moves a tenant to a different installation while it is served.
 *
 * Steps: the rows are copied in rounds, until a round is hardly shorter than the one before. A fence closes the tenant for
 * writes, and workers leave it. The last round ends with both the same. Then the source is closed for good, and only after
 * that does the target open the tenant. Each state is in the database of its installation, so a killed run can be repeated:
 * until the source is closed for good, `abort` gives the move up; afterwards, it can only go on.
 */
import { randomUUID } from 'node:crypto'
import { ControlError } from '../../tenants/admin/change.ts'
import {
  arrivalOf,
  arrive,
  beginArrival,
  cancelArrival,
  closeSpaces,
  confirmArrival,
  hasArrived,
} from './arrival.ts'
import { openCardKeys, resealCardNumbers } from './card-numbers.ts'
import {
  type ComparedRanges,
  type CopyRound,
  type CopyTarget,
  copyRound,
  readSnapshot,
  type TableSummary,
} from './copy.ts'
import { type Installation, requireFit } from './installations.ts'
import {
  beginAtSource,
  giveUp,
  leave,
  type MoveRun,
  readKept,
  readLeft,
  requireNoOpenPayouts,
  unfence,
  waitForSending,
  whileFenced,
} from './source.ts'
import { listMovedTables, listSpaces, type MovedTables } from './tables.ts'

export interface MoveOptions {
  /** Where callers find the account afterwards, such as `https://api.example.com`. */
  readonly hint?: string | undefined
  /** Writes are refused for at most this time, in milliseconds. If it is not enough, the tenant stays at the source. */
  readonly maxPauseMs: number
  /** Receives the progress, as text for people. */
  readonly say: (line: string) => void
  /** Called before each step, for tests that end the process there. */
  readonly before?: (step: MoveStep) => void | Promise<void>
}

export type MoveStep = 'copy' | 'fence' | 'compare' | 'leave' | 'arrive'

export interface MovedTenant {
  readonly tenant_id: string
  readonly rows: number
  readonly rounds: number
  /** How long writes were refused. */
  readonly pause_ms: number
  readonly tables: readonly TableSummary[]
}

/**
 * A round while the tenant is served is shorter than the one before, because fewer rows have changed. When it is not
 * shorter than this part of it, more rounds do not make the pause shorter.
 */
const SHORTER = 0.75

/** A move in progress. */
class Mover {
  readonly #source: Installation
  readonly #target: Installation
  readonly #run: MoveRun
  readonly #tables: MovedTables
  readonly #arrival: CopyTarget
  readonly #options: MoveOptions
  readonly #compared: ComparedRanges = new Map()
  rounds = 0

  constructor(
    source: Installation,
    target: Installation,
    run: MoveRun,
    tables: MovedTables,
    options: MoveOptions,
  ) {
    const keysOf = (
      { database, operator: { clock } }: Installation,
      where: Parameters<typeof openCardKeys>[2],
    ) => {
      let keys: ReturnType<typeof openCardKeys> | undefined
      return () => (keys ??= openCardKeys(database, clock, where))
    }
    const reseal = resealCardNumbers({
      source: keysOf(source, 'this installation'),
      target: keysOf(target, 'the target'),
    })
    this.#source = source
    this.#target = target
    this.#run = run
    this.#tables = tables
    this.#options = options
    this.#arrival = arrivalOf(target.operator, run, reseal)
  }

  async round(): Promise<CopyRound> {
    const { tenantId } = this.#run
    const began = performance.now()
    const round = await readSnapshot(this.#source.operator.control, async (snapshot) => {
      // Spaces that the source no longer has are emptied at the target.
      const there = await listSpaces(this.#target.operator.control, tenantId)
      const spaces = [...new Set([...(await listSpaces(snapshot, tenantId)), ...there])]
      await closeSpaces(this.#target.operator, this.#run, spaces)
      return copyRound(snapshot, this.#arrival, this.#tables.copied, tenantId, spaces, this.#compared)
    })
    this.rounds += 1
    const took = Math.round(performance.now() - began)
    this.#options.say(
      `round ${this.rounds}: ${round.rows} rows, ${round.changed} copied or deleted, ${took} ms`,
    )
    return round
  }

  async follow(): Promise<void> {
    const { control } = this.#source.operator
    await requireNoOpenPayouts(control, await listSpaces(control, this.#run.tenantId))
    let before = Number.POSITIVE_INFINITY
    for (;;) {
      const began = performance.now()
      await this.round()
      const took = performance.now() - began
      if (took > SHORTER * before) return
      before = took
    }
  }

  /** Compares until nothing differs. Resolves with undefined if that takes too long. */
  async finish(until: number): Promise<CopyRound | undefined> {
    const { operator } = this.#source
    const spaces = await listSpaces(operator.control, this.#run.tenantId)
    if (!(await waitForSending(operator, spaces, until))) return undefined
    this.#options.say('workers have left the tenant')
    for (;;) {
      const round = await this.round()
      if (performance.now() > until) return undefined
      if (round.isSame) return round
    }
  }

  /** Refuses writes until source and target are the same, and closes the source. */
  change(): Promise<CopyRound> {
    const { before, maxPauseMs } = this.#options
    const { operator } = this.#source
    return whileFenced(operator, this.#run, this.#tables, async () => {
      await before?.('compare')
      const round = await this.finish(performance.now() + maxPauseMs)
      if (!round)
        throw new ControlError(
          'refused',
          `source and target were not the same within ${maxPauseMs} ms: the tenant stays here, and is served again. Run the command again when it has less to do, or with a longer --max-pause`,
        )
      await confirmArrival(this.#target.operator, this.#run)
      await before?.('leave')
      await leave(operator, this.#run)
      return round
    })
  }

  async arrive(): Promise<void> {
    await this.#options.before?.('arrive')
    const kept = await readKept(this.#source.operator.control, this.#run.tenantId)
    await arrive(this.#target.operator, this.#run, kept, this.#tables)
  }
}

/**
 * Moves a tenant, or continues a move after a kill. To move it back, exchange the two installations.
 *
 * @throws ControlError if the tenant cannot move. Then the source serves it.
 */
export async function moveTenant(
  source: Installation,
  target: Installation,
  tenantId: string,
  options: MoveOptions,
): Promise<MovedTenant> {
  await requireFit(source, target)
  const run = { tenantId, id: randomUUID() }
  const tables = await listMovedTables(source.operator.control)
  const mover = new Mover(source, target, run, tables, options)
  const state = await beginAtSource(source.operator, run, options.hint)
  const summary = { tenant_id: tenantId, rows: 0, rounds: 0, pause_ms: 0, tables: [] }
  if (state === 'moved') {
    const [left, arriving] = await Promise.all(
      [source, target].map(({ operator }) => readLeft(operator.control, tenantId)),
    )
    if (left !== arriving)
      throw new ControlError('conflict', `${tenantId} has left this installation for a different target`)
    if (await hasArrived(target.operator, tenantId)) return summary
  }
  // Writes are accepted again while this run copies what the killed one has not.
  if (state === 'fenced') await unfence(source.operator, run, tables)
  await beginArrival(target.operator, run, state === 'moved')
  await options.before?.('copy')
  if (state !== 'moved') await mover.follow()
  await options.before?.('fence')
  const began = performance.now()
  const last = state === 'moved' ? undefined : await mover.change()
  await mover.arrive()
  return {
    ...summary,
    rows: last?.rows ?? 0,
    tables: last?.tables ?? [],
    rounds: mover.rounds,
    pause_ms: Math.round(performance.now() - began),
  }
}

/** Gives a move up: the source serves the tenant, and the target forgets it. */
export async function abortMove(
  source: Installation,
  target: Installation,
  tenantId: string,
): Promise<{ readonly tenant_id: string; readonly aborted: true }> {
  const run = { tenantId, id: randomUUID() }
  const tables = await listMovedTables(source.operator.control)
  const state = await beginAtSource(source.operator, run, undefined)
  if (state === 'moved')
    throw new ControlError(
      'conflict',
      `${tenantId} has left this installation, so the move can only go on: run it without --abort, and then with --back`,
    )
  if (state === 'fenced') await unfence(source.operator, run, tables)
  await beginArrival(target.operator, run)
  await cancelArrival(target.operator, run, tables)
  await giveUp(source.operator, run)
  return { tenant_id: tenantId, aborted: true }
}
