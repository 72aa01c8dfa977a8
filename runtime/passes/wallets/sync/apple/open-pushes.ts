import type { Logger } from 'pino'
import type { Database } from '../../../../database/database.ts'
import type { Pool } from '../../../../database/pool/pool.ts'
import type { WakeUpChannel } from '../../../../events/emit/wake-ups.ts'
import { ENVIRONMENTS, type Environment } from '../../../../platform/environment.ts'
import type { BaseUrls } from '../../../../tenants/addresses/base-urls.ts'
import type { Clock } from '../../../../tenants/clock/clock.ts'
import type { Tracer } from '../../../../tracing/span.ts'
import { createLeaseClock } from '../../../../work/lease-clock.ts'
import { createSetAside } from '../../../../work/set-aside.ts'
import { createDevices, type DevicesParts } from '../../../passes/registrations.ts'
import { fanOutToApple } from './fan-out.ts'
import { openApns, type PushSettings } from './open-apns.ts'
import { createAppleSender } from './sender.ts'
import { createUpdateWorker, type UpdateWorker } from './worker.ts'

export interface PushParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly log: Logger
  readonly tracer?: Tracer | undefined
  readonly baseUrls: BaseUrls
  readonly wakeUpChannel: WakeUpChannel
  readonly passTokens: DevicesParts['passTokens']
  readonly settings: PushSettings
}

export interface Pushes {
  readonly apple: Readonly<Record<Environment, UpdateWorker | undefined>>
  /** Stops the workers and waits for pushes in progress. */
  stop(): Promise<void>
}

/**
 * Opens a worker and an APNs connection for each environment. In production without Apple settings, it opens neither.
 */
export function openPushes(parts: PushParts): Pushes {
  const { database, clock, log, tracer, settings } = parts
  const open = (environment: Environment): UpdateWorker | undefined => {
    const pool = database[environment]
    const apns = openApns(settings, clock.machine)
    if (!apns) return undefined
    const devices = createDevices({ ...parts, environment, pool, control: database.control })
    const worker = createUpdateWorker({
      environment,
      platform: 'apple',
      pool,
      leaseClock: createLeaseClock(pool, clock.machine),
      setAside: createSetAside({ control: database.control, clock, log }, 'apple_pushes', environment),
      sender: createAppleSender({ db: pool, apns, devices, now: clock.machine, log }),
      fanOut: (space, lease) => fanOutToApple(pool, space, lease),
      log,
      tracer,
    })
    const stop = async () => {
      await worker.stop()
      apns.close()
    }
    return { ...worker, stop }
  }
  const apple = { sandbox: open('sandbox'), live: open('live') }
  if (!apple.live) log.warn('APPLE_PASS_* variables are not set, so devices are not notified of pass changes')
  return {
    apple,
    stop: async () => {
      await Promise.all(ENVIRONMENTS.map((environment) => apple[environment]?.stop()))
    },
  }
}
