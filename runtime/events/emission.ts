/** Whose version an event is rendered in; and emission outside requests: by workers, in transactions of their own. */
import { events as views } from '../../generated/events.ts'
import { versions } from '../../generated/versions.ts'
import type { NewEvent, Version } from '../contract.ts'
import type { Database } from '../platform/database/database.ts'
import type { Emitter } from './emit.ts'
import { appendEvents } from './queries.ts'
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

/** How a tenant's events are rendered. */
export interface RenderingScope {
  /** What the tenant is pinned to in the environment. */
  readonly pin: string | null
  /** Service time, milliseconds since the epoch. */
  readonly now: number
}

/** An event as the tenant will see it; undefined where its version has no such type, or nothing visible changed. */
export function renderFor({ pin, now }: RenderingScope, event: NewEvent): RenderedEvent | undefined {
  return renderEvent(views, renderingVersion(pin, now), event, now)
}

/** Who the events are about and how they are rendered. */
export interface EmissionScope extends RenderingScope {
  readonly tenantId: string
}

/**
 * Collects events and writes them into the transaction; gives whether there may be attempts to plan. Call `write` when
 * everything else of the transaction has been sent, before the audit log: it locks the end of the tenant's sequence.
 */
export function collectEvents(scope: EmissionScope): Emitter & { write(db: Database): Promise<boolean> } {
  const rendered: RenderedEvent[] = []
  return {
    emit(event) {
      const each = renderFor(scope, event)
      if (each) rendered.push(each)
      return each
    },
    write: (db) => appendEvents(db, scope.tenantId, rendered),
  }
}
