/** A server in front of a chain's node: it passes on what it is asked, and lies where it is told to. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export interface Question {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

export type Instead =
  | number
  | 'hang'
  | { readonly error: { readonly code: number; readonly message: string } }

/** The answer's result, from the true one; `undefined` as a result of `before` passes the question on. */
export interface Lie {
  /** Instead of asking the node: a status to answer with, never to answer, or an error. */
  readonly before?: (question: Question) => Instead | undefined | Promise<Instead | undefined>
  readonly after?: (question: Question, result: unknown) => unknown
}

export interface NodeProxy {
  readonly url: string
  /** From now on. */
  lie(how: Lie): void
  close(): void
}

/** @param target URL of the node. */
export async function startProxy(target: string): Promise<NodeProxy> {
  let lying: Lie = {}
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const question = (await json(request)) as Question
    const instead = await lying.before?.(question)
    if (instead === 'hang') return
    if (typeof instead === 'object') {
      response.end(JSON.stringify({ jsonrpc: '2.0', id: question.id, ...instead }))
      return
    }
    if (instead !== undefined) {
      response.writeHead(instead, { 'Retry-After': '60' }).end('{}')
      return
    }
    const asked = await fetch(target, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(question),
    })
    const said = (await asked.json()) as { result?: unknown }
    const after = lying.after
    if (after && 'result' in said) said.result = after(question, said.result)
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(said))
  }
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(502).end(String(error)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    lie: (how) => {
      lying = how
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
