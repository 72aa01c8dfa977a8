/** Emission outside requests: by workers, in transactions of their own. */
import { events as views } from '../../generated/events.ts'
import { versions } from '../../generated/versions.ts'
import type { Version } from '../contract.ts'
import type { Database } from '../db/database.ts'
import { appendEvents } from '../db/events.ts'
import type { Emitter } from './emit.ts'
import { type RenderedEvent, renderEvent } from './render.ts'

/**
 * The version in which a tenant's events are rendered: its pin; the oldest that is still answered where the pin is past
 * its sunset; the newest where there is no pin.
 *
 * @param now service time, milliseconds since the epoch.
 */
export function renderingVersion(
  pin: string | null,
  now: number,
  all: readonly Pick<Version, 'name' | 'sunset'>[] = versions,
): string {
  const isAnswered = ({ sunset }: Pick<Version, 'sunset'>) => sunset === undefined || Date.parse(sunset) > now
  const pinned = pin === null ? all.at(-1) : all.find(({ name }) => name === pin)
  const version = pinned && isAnswered(pinned) ? pinned : all.find(isAnswered)
  if (!version) throw new Error('every version is past its sunset')
  return version.name
}

/** Who the events are about and how they are rendered. */
export interface EmissionScope {
  readonly tenantId: string
  /** What the tenant is pinned to in the environment. */
  readonly pin: string | null
  /** Service time, milliseconds since the epoch. */
  readonly now: number
}

/**
 * Collects events and writes them into the transaction, with the first attempts of their deliveries. Call `write` when
 * everything else of the transaction has been sent, before the audit log: it locks the end of the tenant's sequence.
 */
export function collectEvents(scope: EmissionScope): Emitter & { write(db: Database): Promise<number> } {
  const { tenantId, now } = scope
  const version = renderingVersion(scope.pin, now)
  const rendered: RenderedEvent[] = []
  return {
    emit(event) {
      const each = renderEvent(views, version, event, now)
      if (each) rendered.push(each)
      return each
    },
    write: (db) => appendEvents(db, tenantId, rendered),
  }
}
