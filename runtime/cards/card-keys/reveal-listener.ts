/** The listener of a process with the role `reveal`: makes and opens card numbers for the other processes. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import type { Clock } from '../../tenants/clock/clock.ts'
import { createRevealSeals, MAX_QUESTION_BYTES, type RevealQuestion } from './reveal-message.ts'
import type { CardVault } from './vault.ts'

export interface RevealListenerOptions {
  readonly vault: CardVault
  readonly pepper: string
  readonly clock: Pick<Clock, 'machine'>
  readonly log: Logger
  /** Whether the database answers. */
  readonly isReady: () => Promise<boolean>
}

/** A recorded question gets no answer later, however the clocks of two machines differ. */
const MAX_AGE_MS = 30_000

/** Returns the listener: `POST /` with a sealed question, `GET /livez` and `GET /readyz`. */
export function createRevealListener(options: RevealListenerOptions): RequestListener {
  const { vault, pepper, clock, log, isReady } = options
  const seals = createRevealSeals(pepper)

  const answer = async (question: RevealQuestion): Promise<Buffer | undefined> => {
    const { method, place } = question
    if (method === 'reveal') {
      const { environment, space, cardId } = place
      log.info({ environment, space, card_id: cardId }, 'A card number is opened for another process')
      return seals.answer({ ...question, method }, (await vault.reveal(place)) ?? null)
    }
    if (method !== 'propose') return undefined
    const numbers = (await vault.propose(place)).map(({ sealed, digest, ...number }) => ({
      ...number,
      sealed: sealed.toString('base64'),
      digest: digest.toString('base64'),
    }))
    return seals.answer({ ...question, method }, numbers)
  }
  const open = (body: Buffer): RevealQuestion | undefined => {
    try {
      return seals.openQuestion(body)
    } catch {
      return undefined
    }
  }
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === 'GET' && request.url === '/livez') return send(response, 200, 'ok')
    if (request.method === 'GET' && request.url === '/readyz')
      return (await isReady())
        ? send(response, 200, 'ok')
        : send(response, 503, 'the database does not answer')
    if (request.method !== 'POST' || request.url !== '/') return send(response, 404, 'unknown path')
    const body = await readQuestion(request)
    if (!body) return send(response, 413, `the question is longer than ${MAX_QUESTION_BYTES} bytes`)
    const question = open(body)
    if (!question) return send(response, 403, 'the question is not sealed with the pepper of this deployment')
    if (Math.abs(clock.machine() - question.at) > MAX_AGE_MS)
      return send(
        response,
        403,
        'the question is older than 30 s: synchronize the clocks of both machines (NTP)',
      )
    const sealed = await answer(question)
    return sealed ? send(response, 200, sealed) : send(response, 400, 'unknown method: update this process')
  }
  return (request, response) => {
    respond(request, response).catch((err: unknown) => {
      log.warn({ err }, 'A question about a card number failed')
      send(response, 503, 'the question failed; the log of this process says why')
    })
  }
}

/** Returns the body, or undefined if it is too long. */
async function readQuestion(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MAX_QUESTION_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function send(response: ServerResponse, status: number, body: string | Buffer): void {
  if (response.headersSent) return
  response
    .writeHead(status, { 'Content-Length': Buffer.byteLength(body), 'Cache-Control': 'no-store' })
    .end(body)
}
