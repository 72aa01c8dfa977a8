import type { RequestListener } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Operator } from '../admin/change.ts'
import { startClock } from '../admin/clock.ts'
import { type Demo, ensureDemo, findDemo } from '../admin/demo.ts'
import { type BaseUrls, resolveBaseUrls } from '../platform/addresses/base-urls.ts'
import { createClock, type OffsetClock } from '../platform/clock/clock.ts'
import { type OpenDatabase, openDatabase } from '../platform/database/open/open-database.ts'
import { watchRevision } from '../platform/database/revision.ts'
import type { Settings } from '../platform/settings.ts'
import { type Listener, listenOn } from './listeners.ts'

/** What the handlers of requests are made from. */
export interface Parts {
  readonly settings: Settings
  readonly database: OpenDatabase
  readonly clock: OffsetClock
  readonly log: Logger
  readonly baseUrls: BaseUrls
  /** The process is about to stop: whoever asks shall send nothing more. */
  readonly isLeaving: () => boolean
}

/** What answers on the listeners that this process has. */
export interface Handlers {
  readonly sandbox: RequestListener | undefined
  readonly live: RequestListener | undefined
  readonly console: RequestListener | undefined
  /** The control schema has changed: drop what is cached of it. */
  forget(): void
  /** Lets go of what the handlers alone had opened. After the last answer. */
  close(): Promise<void>
}

export interface RunningService {
  readonly baseUrls: BaseUrls
  readonly demo: Demo | undefined
  readonly operator: Operator
  /** Stops accepting, lets requests under way finish, lets the database go. */
  stop(): Promise<void>
}

interface Listeners {
  readonly sandbox?: Listener
  readonly live?: Listener
  readonly console?: Listener
}

async function openListeners(settings: Settings): Promise<Listeners> {
  const { roles, sandboxPort, livePort, consolePort } = settings
  const opened: { sandbox?: Listener; live?: Listener; console?: Listener } = {}
  try {
    if (roles.has('api')) {
      opened.sandbox = await listenOn(settings, { variable: 'SANDBOX_PORT', port: sandboxPort })
      opened.live = await listenOn(settings, { variable: 'LIVE_PORT', port: livePort })
    }
    if (roles.has('console')) {
      opened.console = await listenOn(settings, { variable: 'CONSOLE_PORT', port: consolePort })
    }
    return opened
  } catch (error) {
    await drainAll(opened, 0)
    throw error
  }
}

function originsOf({ sandbox, live, console }: Listeners): Partial<BaseUrls> {
  return {
    ...(sandbox && { sandbox: sandbox.url }),
    ...(live && { live: live.url }),
    ...(console && { console: console.url }),
  }
}

async function drainAll(listeners: Listeners, timeoutMs: number): Promise<void> {
  await Promise.all(Object.values(listeners).map((listener: Listener) => listener.drain(timeoutMs)))
}

/**
 * Starts what this process serves: ports first (one that is taken shows at once), then the database with its migrations,
 * the clock, the demo tenant where it belongs, and the handlers. Throws an error that says what to do.
 *
 * @param makeHandlers builds the application; never listens.
 */
export async function startService(
  settings: Settings,
  log: Logger,
  makeHandlers: (parts: Parts) => Promise<Handlers>,
  currentVersion: string,
): Promise<RunningService> {
  const listeners = await openListeners(settings)
  let database: OpenDatabase | undefined
  try {
    database = await openDatabase(settings, (line) => log.warn(line))
    const baseUrls = await resolveBaseUrls(database.control, settings, originsOf(listeners))
    const clock = createClock()
    const operator: Operator = { control: database.control, clock, pepper: database.pepper }
    await startClock(operator, settings.clockStart)
    await clock.refresh(database.control) // the demo tenant is made in service time
    const wanted = settings.databaseUrl === undefined || settings.demo
    const demo = wanted ? await ensureDemo(operator, currentVersion) : await findDemo(operator)
    let leaving = false
    const isLeaving = () => leaving
    const handlers = await makeHandlers({ settings, database, clock, log, baseUrls, isLeaving })
    const watch = await watchRevision(database.control, async () => {
      await clock.refresh(operator.control)
      handlers.forget()
    })
    await clock.refresh(database.control) // what changed before the watch began
    for (const name of ['sandbox', 'live', 'console'] as const) {
      const handler = handlers[name]
      if (handler) listeners[name]?.attach(handler)
    }
    const opened = database
    const stop = async () => {
      leaving = true
      await wait(settings.timeouts.leaveMs)
      await drainAll(listeners, settings.timeouts.drainMs)
      await watch.stop()
      await handlers.close()
      await opened.close()
    }
    return { baseUrls, demo, operator, stop }
  } catch (error) {
    await drainAll(listeners, 0)
    await database?.close()
    throw error
  }
}
