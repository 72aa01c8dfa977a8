/** A JSON-RPC client for a chain's node (Ethereum execution-apis), with limits on time and size. */

import { setTimeout as wait } from 'node:timers/promises'
import { parsePeerJson } from '../../platform/json/peer-json.ts'

/** The node is unreachable, overloaded, or returned an unusable answer. A later attempt may succeed. */
export class RpcUnavailable extends Error {
  override name = 'RpcUnavailable'
}

/** The node understood the request and refused it. */
export class RpcRefused extends Error {
  override name = 'RpcRefused'
  /** JSON-RPC error code; 3 if a contract reverted. */
  readonly code: number

  constructor(message: string, code: number) {
    super(message)
    this.code = code
  }
}

export interface Rpc {
  /** Calls a method. Throws `RpcUnavailable` or `RpcRefused`. The shape of the result is not checked. */
  ask<T>(method: string, ...params: readonly unknown[]): Promise<T>
  /** Host of the node, without path and credentials, because these contain the provider's API key. */
  readonly place: string
}

/** Deadline from connecting to the last byte of the response. */
const DEADLINE_MS = 10_000

/** Maximum response size. A receipt has a few kilobytes. */
const MAX_BYTES = 4 * 1024 * 1024

/** Maximum pause before the only retry after status 429. */
const MAX_PAUSE_MS = 2000

/**
 * Creates a client.
 * @param deadlineMs deadline of one request.
 */
export function createRpc(url: string, deadlineMs = DEADLINE_MS): Rpc {
  const place = new URL(url).host
  const fail = (words: string, cause?: unknown) => new RpcUnavailable(`${place} ${words}`, { cause })
  let id = 0

  const post = async (body: string): Promise<{ status: number; pauseMs: number; text: string }> => {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(deadlineMs),
      })
      const after = Number(response.headers.get('Retry-After') ?? 1) * 1000
      return { status: response.status, pauseMs: after, text: await readText(response) }
    } catch (error) {
      // Leave out the error's message, because it can contain the URL.
      const late = error instanceof Error && error.name === 'TimeoutError'
      throw fail(late ? `did not respond within ${deadlineMs} ms` : 'cannot be reached', error)
    }
  }
  const ask = async <T>(method: string, ...params: readonly unknown[]): Promise<T> => {
    id += 1
    const question = { jsonrpc: '2.0', id, method, params }
    const body = JSON.stringify(question)
    let answer = await post(body)
    if (answer.status === 429 && answer.pauseMs <= MAX_PAUSE_MS) {
      await wait(answer.pauseMs)
      answer = await post(body)
    }
    if (answer.status === 429) throw fail('rejected the request: too many requests (429)')
    const said = parse(answer.text)
    if (typeof said !== 'object' || said === null || !('id' in said) || said.id !== question.id) {
      throw fail(`returned ${answer.status} for ${method}, without a valid JSON-RPC response`)
    }
    if ('error' in said && said.error) throw refusalOf(method, said.error, fail)
    if (!('result' in said)) throw fail(`returned no result for ${method}`)
    return said.result as T
  }
  return { ask, place }
}

/** Error codes for too many requests (EIP-1474: -32005) and for internal errors of the node. */
const THEIR_FAULT = new Set([-32005, -32603, 429])

function refusalOf(method: string, error: unknown, fail: (words: string) => Error): Error {
  const { code = 0, message = '' } = error as { code?: number; message?: string }
  if (THEIR_FAULT.has(Number(code)) && !/revert/i.test(String(message)))
    return fail(`had an internal error in ${method}`)
  return new RpcRefused(String(message).slice(0, 300), Number(code))
}

function parse(text: string): unknown {
  try {
    return parsePeerJson(text)
  } catch {
    return undefined
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_BYTES) throw new Error('the response is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
