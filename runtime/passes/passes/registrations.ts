/** Registers passes on Apple devices, removes them, and lists the passes that changed. */

import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { readSpace } from '../../database/space.ts'
import type { WakeUpChannel } from '../../events/emit/wake-ups.ts'
import type { Environment } from '../../platform/environment.ts'
import { floorToSecond } from '../../platform/instants.ts'
import type { BaseUrls } from '../../tenants/addresses/base-urls.ts'
import { readPin } from '../../tenants/admin/pins.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import type { PassPlace, PassTokens } from '../wallets/render/pass-tokens.ts'
import { changedAt } from './changed.ts'
import { markOutsideRequest } from './installs.ts'
import { lockPasses, type PassRow } from './queries.ts'
import {
  countDevices,
  deleteRegistrations,
  findAbandoned,
  findByPushToken,
  forgetDevice,
  isOnDevice,
  isRetired,
  listChanged,
  locateDevice,
  noteDevice,
  numberChange,
  openWallets,
  pushTo,
  readNote,
  readRegistration,
  writeRegistration,
} from './registration-queries.ts'

export interface DevicesParts {
  readonly environment: Environment
  readonly pool: Pool
  readonly control: Database
  readonly clock: Clock
  readonly baseUrls: BaseUrls
  readonly wakeUpChannel: WakeUpChannel
  readonly passTokens: Readonly<Record<Environment, PassTokens>>
}

export interface Changed {
  readonly passIds: readonly string[]
  /** The number of the last change that the device has now seen, by space. */
  readonly seen: ReadonlyMap<string, number>
}

export interface Devices {
  /** Registers a pass on a device. `unknown`: the pass does not exist. `full`: the pass is on `MAX_DEVICES` devices. */
  register(
    place: PassPlace,
    deviceId: string,
    pushToken: string,
  ): Promise<'new' | 'known' | 'unknown' | 'full'>
  /** Removes the registration, if it exists. */
  unregister(place: PassPlace, deviceId: string): Promise<void>
  /** Removes the registrations of a push token that Apple has reported as invalid since `since` (machine time). */
  drop(space: string, deviceId: string, pushToken: string, since: number): Promise<void>
  /**
   * Lists the device's passes that have changed.
   *
   * @param seen returns the number of the last change of a space that the device has seen, 0 for none. If undefined,
   *   all of the device's passes are listed.
   */
  changedSince(deviceId: string, seen: ((space: string) => number) | undefined): Promise<Changed>
}

/** Maximum number of spaces to look in for passes of one device. */
const MAX_SPACES = 500

/**
 * Maximum number of devices for a pass. Real holders have a few devices, and a shared pass some more; a higher number
 * indicates made-up registrations.
 */
export const MAX_DEVICES = 100

/** Maximum number of passes of a device that one transaction removes. */
const DROPPED_AT_ONCE = 100

/** Later than any clock reading: 31 December 9999. */
const NEVER = Date.UTC(9999, 11, 31)

export function createDevices(parts: DevicesParts): Devices {
  const { environment, pool, control, clock } = parts

  /**
   * Runs the work in a transaction. `mark` writes events and audit entries, so it must come last in the transaction.
   */
  const within = async <T>(
    space: string,
    work: (db: Database, mark: (type: MarkType, passId: string) => Promise<unknown>) => Promise<T>,
  ): Promise<T> => {
    const { tenantId } = readSpace(space)
    const pin = await readPin(control, tenantId, environment)
    let due = false
    const done = await pool.forTenant(tenantId).transaction(async (db) => {
      due = false
      const showing = { baseUrl: parts.baseUrls[environment], passTokens: parts.passTokens[environment] }
      const scope = { ...showing, environment, db, space, pin }
      return work(db, async (type, passId) => {
        const now = clock.service(environment)
        const marked = await markOutsideRequest({ ...scope, now }, type, passId, 'apple')
        due ||= marked?.due ?? false
      })
    })
    if (due) parts.wakeUpChannel.publish(environment, space)
    return done
  }

  const leave = async (
    space: string,
    deviceId: string,
    work: (db: Database) => Promise<{ readonly passIds: readonly string[]; readonly until: number }>,
  ): Promise<number> => {
    const noted = await readNote(control, environment, deviceId, space)
    const { left, count } = await within(space, async (db, mark) => {
      const { passIds, until } = await work(db)
      const locked = await lockPasses(db, space, passIds)
      pipelined(deleteRegistrations(db, space, deviceId, passIds, until))
      const left = await isOnDevice(db, space, deviceId)
      for (const passId of await findAbandoned(db, space, [...locked.keys()]))
        await mark('pass.uninstalled', passId)
      return { left, count: passIds.length }
    })
    if (!left && noted !== undefined) await forgetDevice(control, environment, deviceId, space, noted)
    return count
  }

  return {
    async register({ space, passId }, deviceId, pushToken) {
      const note = () => noteDevice(control, environment, deviceId, space, clock.machine())
      const outcome = await within(space, async (db, mark) => {
        const [passes, retired] = await Promise.all([lockPasses(db, space, [passId]), isRetired(db, space)])
        const pass = passes.get(passId)
        if (!pass || retired) return 'unknown'
        const known = await readRegistration(db, space, deviceId, passId)
        if (!known && (await countDevices(db, space, passId, MAX_DEVICES)) === MAX_DEVICES) return 'full'
        await note() // committed before the registration: without it, the device could never find its pass
        const isNews = known
          ? known.push_token !== pushToken && known.changed > 0 // the push for an earlier change may have gone to the old token
          : hasChanged(pass, clock.service(environment))
        pipelined(openWallets(db, space))
        const changed = isNews ? await numberChange(db, space) : 0
        const registeredAt = clock.machine()
        const { template_id: templateId } = pass
        pipelined(
          writeRegistration(db, space, { deviceId, passId, templateId, pushToken, changed, registeredAt }),
        )
        if (isNews) pipelined(pushTo(db, space, [{ id: deviceId }], registeredAt))
        if (!known) await mark('pass.installed', passId)
        return known ? 'known' : 'new'
      })
      if (outcome === 'new') await note() // a concurrent `leave` may have deleted the record when the previous last pass left
      return outcome
    },

    async unregister({ space, passId }, deviceId) {
      await leave(space, deviceId, async () => ({ passIds: [passId], until: NEVER }))
    },

    async drop(space, deviceId, pushToken, since) {
      const find = { deviceId, pushToken, until: since }
      const work = async (db: Database) => ({
        passIds: await findByPushToken(db, space, find, DROPPED_AT_ONCE),
        until: since,
      })
      while ((await leave(space, deviceId, work)) === DROPPED_AT_ONCE);
    },

    async changedSince(deviceId, seen) {
      const spaces = await locateDevice(control, environment, deviceId, MAX_SPACES)
      const next = new Map<string, number>()
      const lists = await Promise.all(
        spaces.map(async (space) => {
          const after = seen ? seen(space) : -1
          const { flushed } = pool.forTenant(readSpace(space).tenantId)
          const changed = await listChanged(flushed, space, deviceId, after)
          next.set(space, Math.max(0, after, ...changed.map((each) => each.changed)))
          return changed.map(({ pass_id }) => pass_id)
        }),
      )
      return { passIds: lists.flat(), seen: next }
    },
  }
}

type MarkType = Parameters<typeof markOutsideRequest>[1]

/**
 * Returns whether the device may have an outdated file: it downloaded the file at some time after the pass was issued.
 */
function hasChanged(pass: PassRow, now: number): boolean {
  return changedAt(pass, now) > floorToSecond(pass.created)
}
