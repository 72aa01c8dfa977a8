import type { RequestListener } from 'node:http'
import { networkTls } from '../cards/processor/server-certificate.ts'
import type { Settings } from '../platform/settings.ts'
import type { BaseUrls } from '../tenants/addresses/base-urls.ts'
import { listenOn, type PortListener } from './listeners.ts'

/** The ports that the roles of a process need. */
export interface Ports {
  /** Origins of the open ports. */
  readonly origins: Partial<Record<PortName, string>>
  /** Sets the handlers of the open ports. Handlers of other ports are ignored. */
  attach(listeners: Partial<Record<PortName, RequestListener>>): void
  /** Reads the certificates again. Throws an error that names the variables if one cannot be used. */
  renewCertificates(): void
  /** Stops accepting connections. Resolves when all requests in progress have a response, or after the timeout. */
  drain(timeoutMs: number): Promise<void>
}

export type PortName = keyof BaseUrls | 'network' | 'reveal' | 'metrics'

/**
 * Opens the ports, which answer 503 until a handler is attached. If a port is in use, throws an error that names its
 * variable.
 */
export async function openPorts(settings: Settings): Promise<Ports> {
  const { roles, sandboxPort, livePort, consolePort, networkPort, revealPort, metricsPort } = settings
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
    if (roles.has('network') && networkPort !== undefined) {
      const place = { variable: 'NETWORK_PORT', port: networkPort, tls: networkTls(settings, Date.now()) }
      open.set('network', await listenOn(settings, place))
    }
    if (roles.has('reveal') && revealPort !== undefined) {
      const place = { variable: 'REVEAL_PORT', port: revealPort }
      open.set('reveal', await listenOn({ ...settings, host: settings.revealHost }, place))
    }
    if (metricsPort !== undefined) {
      open.set('metrics', await listenOn(settings, { variable: 'METRICS_PORT', port: metricsPort }))
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
    renewCertificates: () => {
      for (const listener of open.values()) listener.renewCertificate()
    },
    drain,
  }
}
