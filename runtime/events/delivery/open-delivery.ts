import type { Logger } from 'pino'
import type { OpenDatabase } from '../../database/open/open-database.ts'
import { readSpace } from '../../database/space.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { createSeals } from '../../platform/secrets.ts'
import { readPin } from '../../tenants/admin/pins.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import type { Tracer } from '../../tracing/span.ts'
import type { WakeUpChannel, WakeUps } from '../emit/wake-ups.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { createWorker, type Worker } from './worker.ts'

export interface DeliveryParts {
  readonly database: OpenDatabase
  readonly clock: Clock
  readonly log: Logger
  readonly tracer?: Tracer | undefined
  readonly outbound: Readonly<Record<Environment, Outbound>>
  readonly wakeUps: WakeUps
  readonly wakeUpChannel: WakeUpChannel
  /** Called when a manual attempt has ended, so that a recovery of its endpoint can continue. */
  readonly recoveryDue?: (environment: Environment, endpointId: string) => void
}

export interface Delivery {
  readonly workers: Readonly<Record<Environment, Worker>>
  /** Waits for attempts in progress, within the limits of `Worker.stop`. */
  stop(): Promise<void>
}

/** Starts a worker for each environment. Commits of this process and of others wake them. */
export function openDelivery(parts: DeliveryParts): Delivery {
  const { database, clock, log, tracer, outbound, wakeUps, wakeUpChannel, recoveryDue } = parts
  const seals = createSeals(database.pepper)
  const open = (environment: Environment) =>
    createWorker({
      environment,
      pool: database[environment],
      control: database.control,
      clock,
      outbound: outbound[environment],
      seals,
      log,
      tracer,
      readPin: (space) => readPin(database.control, readSpace(space).tenantId, environment),
      recoveryDue: (endpointId) => recoveryDue?.(environment, endpointId),
      deliveriesDue: (space) => wakeUpChannel.publish(environment, space),
    })
  const workers = { sandbox: open('sandbox'), live: open('live') }
  const subscriptions = ENVIRONMENTS.map((environment) =>
    wakeUps.subscribe(environment, workers[environment].wake),
  )
  return {
    workers,
    stop: async () => {
      for (const unsubscribe of subscriptions) unsubscribe()
      await Promise.all(ENVIRONMENTS.map((environment) => workers[environment].stop()))
    },
  }
}
