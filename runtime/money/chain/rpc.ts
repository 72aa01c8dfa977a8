/** JSON-RPC of a chain's node (Ethereum, execution-apis), bounded in time and size. */

import { setTimeout as wait } from 'node:timers/promises'
import { parsePeerJson } from '../../platform/json/peer-json.ts'

/** No answer that can be used: the node is away, in a hurry or out of its mind. Asking later may help. */
export class RpcUnavailable extends Error {
  override name = 'RpcUnavailable'
}

/** The node has understood and says no. */
export class RpcRefused extends Error {
  override name = 'RpcRefused'
  /** Of JSON-RPC; 3 where a contract refuses. */
  readonly code: number

  constructor(message: string, code: number) {
    super(message)
    this.code = code
  }
}

export interface Rpc {
  /** Throws `RpcUnavailable` or `RpcRefused`. The result is what the node says, whatever its shape. */
  ask<T>(method: string, ...params: readonly unknown[]): Promise<T>
  /** Where it is asked, without path and credentials, in which keys of providers stand. */
  readonly place: string
}

/** From the connection to the last byte of the answer. */
const DEADLINE_MS = 10_000

/** A receipt has a few kilobytes. */
const MAX_BYTES = 4 * 1024 * 1024

/** Of a node that says it is asked too often: one more try, not much later. */
const MAX_PAUSE_MS = 2000

/** @param deadlineMs of one question. */
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
      // The words of the error may hold the URL.
      const late = error instanceof Error && error.name === 'TimeoutError'
      throw fail(late ? `has not answered within ${deadlineMs} ms` : 'cannot be reached', error)
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
    if (answer.status === 429) throw fail('is asked too often')
    const said = parse(answer.text)
    if (typeof said !== 'object' || said === null || !('id' in said) || said.id !== question.id) {
      throw fail(`has answered ${method} with ${answer.status} and no JSON-RPC`)
    }
    if ('error' in said && said.error) throw refusalOf(method, said.error, fail)
    if (!('result' in said)) throw fail(`has answered ${method} without a result`)
    return said.result as T
  }
  return { ask, place }
}

/** Codes under which nodes say that they are asked too often (EIP-1474: -32005), or that it is their own fault. */
const THEIR_FAULT = new Set([-32005, -32603, 429])

function refusalOf(method: string, error: unknown, fail: (words: string) => Error): Error {
  const { code = 0, message = '' } = error as { code?: number; message?: string }
  if (THEIR_FAULT.has(Number(code)) && !/revert/i.test(String(message))) return fail(`fails at ${method}`)
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
    if (bytes > MAX_BYTES) throw new Error('the answer is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
