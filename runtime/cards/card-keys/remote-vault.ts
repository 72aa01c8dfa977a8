/** The vault of a process without the keys: asks a process with the role `reveal`. */
import type { Logger } from 'pino'
import type { Clock } from '../../tenants/clock/clock.ts'
import { createRevealSeals } from './reveal-message.ts'
import type { CardVault } from './vault.ts'

export interface RemoteVaultOptions {
  /** Origin of the process with the role `reveal`. */
  readonly url: string
  readonly pepper: string
  readonly clock: Pick<Clock, 'machine'>
  readonly log: Logger
  /** Returns the error that a request gets while the other process does not answer. */
  readonly unavailable: (message: string) => Error
}

/** A request waits at most this long for a number, before it begins its transaction. */
const TIMEOUT_MS = 5000

/** A fault of the other process, without the content of the question. */
class RevealError extends Error {
  override name = 'RevealError'
}

export function createRemoteVault({ url, pepper, clock, log, unavailable }: RemoteVaultOptions): CardVault {
  const seals = createRevealSeals(pepper)
  const send = async (body: Buffer): Promise<Buffer> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/octet-stream' },
      body: new Uint8Array(body),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const answer = Buffer.from(await response.arrayBuffer())
    if (response.status !== 200)
      throw new RevealError(`${url} answered ${response.status}: ${answer.toString()}`)
    return answer
  }
  const ask = async <M extends 'propose' | 'reveal'>(method: M, place: Parameters<CardVault[M]>[0]) => {
    const { question, sealed } = seals.ask(method, place, clock.machine())
    try {
      return seals.openAnswer<M>(question, await send(sealed))
    } catch (err) {
      log.warn(
        { err, url },
        'The process with the role reveal does not answer (REVEAL_URL); the request gets 503',
      )
      throw unavailable('Card numbers are temporarily unavailable. Try again in a moment.')
    }
  }
  return {
    async propose(place) {
      const numbers = await ask('propose', place)
      return numbers.map(({ sealed, digest, ...number }) => ({
        ...number,
        sealed: Buffer.from(sealed, 'base64'),
        digest: Buffer.from(digest, 'base64'),
      }))
    },
    reveal: async (place) => (await ask('reveal', place)) ?? undefined,
  }
}
