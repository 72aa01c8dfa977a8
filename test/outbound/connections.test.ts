/** What becomes of connections: those that are not made, those that die, those that are kept and die then. */
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseNetworks } from '../../runtime/auth/allowlist.ts'
import { createOutbound, type Outbound } from '../../runtime/outbound/outbound.ts'
import { until } from '../support/programs.ts'
import { closeSinks, openScript, openSink, openWire, type Sink } from './sinks.ts'

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

let outbound: Outbound

beforeEach(() => {
  outbound = openOutbound()
})

afterEach(async () => {
  outbound.close()
  await closeSinks()
})

function openOutbound(deadlineMs?: number): Outbound {
  const allow = parseNetworks(['127.0.0.0/8'])
  return createOutbound({ environment: 'sandbox', allow, ...(deadlineMs && { deadlineMs }) })
}

const post = ({ port }: Sink, signal?: AbortSignal) =>
  outbound.post({ url: `http://127.0.0.1:${port}/hooks`, headers: {}, body: '{}', ...(signal && { signal }) })

describe('connections', () => {
  test('nobody listens', async () => {
    const sink = await openSink()
    await closeSinks()
    expect(await post(sink)).toMatchObject({ kind: 'connection', error: 'the connection was refused' })
  })

  test('reset or closed instead of an answer: once, for nothing was kept', async () => {
    const error = 'the connection was closed before an answer came'
    for (const cut of ['resetAndDestroy', 'end'] as const) {
      const sink = await openWire((socket) => socket.once('data', () => socket[cut]()))
      expect(await post(sink)).toMatchObject({ kind: 'connection', error })
      expect(sink.connections).toHaveLength(1)
    }
  })

  test('one that was kept and dies at its next request is replaced by a new one, not by another kept one', async () => {
    const used = new Set<Socket>()
    const sink = await openScript((_request, socket) => {
      if (used.has(socket)) return void socket.resetAndDestroy()
      used.add(socket)
      return OK
    })
    await Promise.all([post(sink), post(sink)])
    expect(sink.connections).toHaveLength(2)
    expect(await post(sink)).toMatchObject({ status: 200 })
    expect(sink.connections).toHaveLength(3)
  })

  test('and not twice', async () => {
    const sink = await openScript((request, socket) => (request > 1 ? void socket.resetAndDestroy() : OK))
    expect(await post(sink)).toMatchObject({ status: 200 })
    expect(await post(sink)).toMatchObject({ kind: 'connection' })
    expect(sink.connections).toHaveLength(2)
  })

  test('and not where the request was seen', async () => {
    const sink = await openScript((request, socket) => {
      if (request === 1) return OK
      socket.write('HTTP/1.1 102 Processing\r\n\r\n', () => setImmediate(() => socket.resetAndDestroy()))
      return undefined
    })
    expect(await post(sink)).toMatchObject({ status: 200 })
    expect(await post(sink)).toMatchObject({ kind: 'connection' })
    expect(sink.connections).toHaveLength(1)
  })

  test('the second one has what is left of the time', async () => {
    const deadlineMs = 500
    outbound = openOutbound(deadlineMs)
    const sink = await openScript((request, socket) => {
      if (request === 1) return OK
      if (request === 2) setTimeout(() => socket.resetAndDestroy(), deadlineMs / 2)
      // In time for one that had all of it again.
      else setTimeout(() => socket.write(OK), deadlineMs * 0.75)
      return undefined
    })
    expect(await post(sink)).toMatchObject({ status: 200 })
    expect(await post(sink)).toMatchObject({ kind: 'timeout' })
  })

  test('one that the other end closes after its answer is not kept', async () => {
    const closing = await openScript((_request, socket) => {
      socket.end('HTTP/1.0 200 OK\r\n\r\nuntil the end')
      return undefined
    })
    for (const _ of [1, 2]) expect(await post(closing)).toMatchObject({ status: 200, body: 'until the end' })
    expect(closing.connections).toHaveLength(2)
  })
})

test('the caller’s signal: the promise rejects with its reason, before and while something is sent', async () => {
  const sink = await openWire(() => {})
  const controller = new AbortController()
  const posting = post(sink, controller.signal)
  await until('the connection', () => sink.connections.length === 1)
  const reason = new Error('the worker stops')
  controller.abort(reason)
  await expect(posting).rejects.toBe(reason)
  await expect(post(sink, controller.signal)).rejects.toBe(reason)
  await until('the connection to close', () => sink.connections[0]!.destroyed)
  expect(sink.connections).toHaveLength(1)
})
