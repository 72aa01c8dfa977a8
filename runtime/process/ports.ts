import type { RequestListener } from 'node:http'
import type { Settings } from '../platform/settings.ts'
import type { BaseUrls } from '../tenants/addresses/base-urls.ts'
import { listenOn, type PortListener } from './listeners.ts'

/** The ports that the roles of a process need. */
export interface Ports {
  /** Of each that is open. */
  readonly origins: Partial<BaseUrls>
  /** From now on these answer, each on its port. A port that is not open needs none. */
  attach(listeners: Partial<Record<PortName, RequestListener>>): void
  /** Accepts nothing more and resolves when every request under way has its answer, or the time is over. */
  drain(timeoutMs: number): Promise<void>
}

export type PortName = keyof BaseUrls

/** Opens the ports, which answer 503 until something is attached. Throws an error that names the variable of a taken one. */
export async function openPorts(settings: Settings): Promise<Ports> {
  const { roles, sandboxPort, livePort, consolePort } = settings
  const open = new Map<PortName, PortListener>()
  const drain = async (timeoutMs: number) => {
    await Promise.all([...open.values()].map((listener) => listener.drain(timeoutMs)))
  }
  try {
    if (roles.has('api')) {
      open.set('sandbox', await listenOn(settings, { variable: 'SANDBOX_PORT', port: sandboxPort }))
      open.set('live', await listenOn(settings, { variable: 'LIVE_PORT', port: livePort }))
    }
    if (roles.has('console')) {
      open.set('console', await listenOn(settings, { variable: 'CONSOLE_PORT', port: consolePort }))
    }
  } catch (error) {
    await drain(0)
    throw error
  }
  return {
    origins: Object.fromEntries([...open].map(([name, { url }]) => [name, url])),
    attach: (listeners) => {
      for (const [name, port] of open) {
        const listener = listeners[name]
        if (listener) port.attach(listener)
      }
    },
    drain,
  }
}
