/** The connections of card networks that send ISO 8583 messages. */
import type { TLSSocket } from 'node:tls'
import type { ProcessorRegistry } from '../processor/registry.ts'
import { type IsoConnection, type IsoConnectionParts, serveConnection } from './connection.ts'

export interface IsoListenerParts extends IsoConnectionParts {
  readonly processors: Pick<ProcessorRegistry, 'environmentOf'>
}

export interface IsoListener {
  /** Serves a connection. TLS has checked that the client has the private key of its certificate. */
  accept(socket: TLSSocket): void
  /** Reads no more messages. Resolves when all connections are closed, at the latest after the timeout. */
  drain(timeoutMs: number): Promise<void>
}

/**
 * Creates the listener. A connection belongs to the environment that its client certificate is pinned for, as at the
 * network listener of the processor interface. A certificate that is retired closes the connection at its next message.
 */
export function createIsoListener(parts: IsoListenerParts): IsoListener {
  const { processors, counter, now, log } = parts
  const connections = new Map<TLSSocket, IsoConnection>()
  return {
    accept(socket) {
      const fingerprint = socket.getPeerX509Certificate()?.fingerprint256.replaceAll(':', '').toLowerCase()
      const environmentOf = () =>
        fingerprint === undefined ? undefined : processors.environmentOf(fingerprint, now())
      if (!environmentOf()) {
        counter.refuse('unknown_certificate')
        log.warn(
          'ISO 8583 connection refused: its client certificate is unknown, retired, expired or missing',
        )
        socket.destroy()
        return
      }
      connections.set(socket, serveConnection(socket, environmentOf, parts))
      socket.once('close', () => connections.delete(socket))
    },
    async drain(timeoutMs) {
      const closed = [...connections].map(([socket, connection]) => {
        const end = new Promise((resolve) => socket.once('close', resolve))
        connection.drain()
        return end
      })
      const late = setTimeout(() => {
        for (const socket of connections.keys()) socket.destroy()
      }, timeoutMs)
      await Promise.all(closed)
      clearTimeout(late)
    },
  }
}
