/** The port for card networks that send ISO 8583 messages. */
import { createServer } from 'node:tls'
import { ISO_LIMITS, type IsoConnectionParts } from '../cards/iso8583/connection.ts'
import { DIALECTS } from '../cards/iso8583/dialects/dialects.ts'
import { createIsoListener } from '../cards/iso8583/listener.ts'
import type { ProcessorRegistry } from '../cards/processor/registry.ts'
import { networkTls } from '../cards/processor/server-certificate.ts'
import type { Settings } from '../platform/settings.ts'
import type { Clock } from '../tenants/clock/clock.ts'
import { createWithTls, readTls, renewTls, startListening } from './listeners.ts'

export interface IsoPort {
  /** The port that is open, also if the setting selects any free one. */
  readonly port: number
  /** Reads the certificate again, for new connections. Throws if it cannot be used. */
  renewCertificate(): void
  /** Accepts no more connections, and ends the open ones, at the latest after the timeout. */
  drain(timeoutMs: number): Promise<void>
}

export interface IsoPortParts extends Pick<IsoConnectionParts, 'network' | 'counter' | 'log'> {
  readonly settings: Settings
  readonly processors: ProcessorRegistry
  readonly clock: Pick<Clock, 'machine'>
}

/**
 * Opens the port, with the certificate of the network listener. Returns undefined if the setting is absent. There is no
 * plain TCP: the client certificate decides which environment a connection belongs to.
 *
 * @throws Error that names the variable and says what to do, if the port or the certificate cannot be used.
 */
export async function openIsoPort({ settings, clock, ...parts }: IsoPortParts): Promise<IsoPort | undefined> {
  const { isoPort: port, isoDialect, timeouts } = settings
  if (port === undefined) return undefined
  const listener = createIsoListener({
    ...parts,
    dialect: DIALECTS[isoDialect],
    limits: ISO_LIMITS,
    deadlineMs: timeouts.networkMs,
    now: clock.machine,
  })
  const files = networkTls(settings, clock.machine())
  const options = { ...files.options, ...readTls(files, settings) }
  const server = createWithTls(files, () => createServer(options, listener.accept))
  // A failed handshake closes its own connection only.
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  await startListening(server, { variable: 'NETWORK_ISO8583_PORT', port }, settings.host)
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : port,
    renewCertificate: () => renewTls(server, files, settings),
    async drain(timeoutMs) {
      server.close()
      await listener.drain(timeoutMs)
    },
  }
}
