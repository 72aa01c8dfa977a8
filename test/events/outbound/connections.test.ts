/** Connections: refused, lost, kept, reused and closed, over real sockets. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createOutbound, type Outbound } from '../../../runtime/events/outbound/outbound.ts'
import { parseNetworks } from '../../../runtime/platform/networks.ts'
import { until } from '../../support/programs.ts'
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
  return createOutbound({ allowPlainHttp: true, allow, ...(deadlineMs && { deadlineMs }) })
}

const post = ({ port }: Sink, signal?: AbortSignal) =>
  outbound.post({ url: `http://127.0.0.1:${port}/hooks`, headers: {}, body: '{}', ...(signal && { signal }) })

describe('connections', () => {
  test('a POST to a port without a listener fails as refused', async () => {
    const sink = await openSink()
    await closeSinks()
    expect(await post(sink)).toMatchObject({ kind: 'connection', error: 'the connection was refused' })
  })

  test('a POST whose first connection is reset or closed is not repeated', async () => {
    const error = 'the connection was closed before a response arrived'
    for (const cut of ['resetAndDestroy', 'end'] as const) {
      const sink = await openWire((socket) => socket.once('data', () => socket[cut]()))
      expect(await post(sink)).toMatchObject({ kind: 'connection', error })
      expect(sink.connections).toHaveLength(1)
    }
  })

  test('a kept connection that dies at its next request is replaced by a new one, not by another kept one', async () => {
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

  test('a POST is repeated on a new connection once, and not twice', async () => {
    const sink = await openScript((request, socket) => (request > 1 ? void socket.resetAndDestroy() : OK))
    expect(await post(sink)).toMatchObject({ status: 200 })
    expect(await post(sink)).toMatchObject({ kind: 'connection' })
    expect(sink.connections).toHaveLength(2)
  })

  test('a POST is not repeated where the request was seen', async () => {
    const sink = await openScript((request, socket) => {
      if (request === 1) return OK
      socket.write('HTTP/1.1 102 Processing\r\n\r\n', () => setImmediate(() => socket.resetAndDestroy()))
      return undefined
    })
    expect(await post(sink)).toMatchObject({ status: 200 })
    expect(await post(sink)).toMatchObject({ kind: 'connection' })
    expect(sink.connections).toHaveLength(1)
  })

  test.each([
    ['another protocol', 'SSH-2.0-x\r\n'],
    ['an empty line', '\r\n'],
    ['the first byte of an answer', 'H'],
    ['the first bytes of an interim answer', 'HTTP/1.1 1'],
    ['half a header block', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['NUL', '\0'],
  ])('and not where any byte came: %s', async (_what, bytes) => {
    for (const cut of ['resetAndDestroy', 'end'] as const) {
      let requests = 0
      const sink = await openScript((request, socket) => {
        requests = request
        if (request > 1) socket.write(bytes, () => setImmediate(() => socket[cut]()))
        return request === 1 ? OK : undefined
      })
      expect(await post(sink)).toMatchObject({ status: 200 })
      expect(await post(sink)).toHaveProperty('error')
      expect([requests, sink.connections.length]).toEqual([2, 1])
    }
  })

  test('the second connection has what is left of the time', async () => {
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

  test('a connection that the other end closes after its answer is not kept', async () => {
    const closing = await openScript((_request, socket) => {
      socket.end('HTTP/1.0 200 OK\r\n\r\nuntil the end')
      return undefined
    })
    for (const _ of [1, 2]) expect(await post(closing)).toMatchObject({ status: 200, body: 'until the end' })
    expect(closing.connections).toHaveLength(2)
  })

  test('a connection whose answer was cut, malformed or late is not kept', async () => {
    const cut = `HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n${'x'.repeat(65_536)}`
    outbound = openOutbound(500)
    for (const bytes of [cut, 'SSH-2.0-x\r\n', undefined]) {
      const sink = await openScript((request) => (request === 1 ? bytes : OK))
      await post(sink)
      expect(await post(sink)).toMatchObject({ status: 200, body: 'ok' })
      expect(sink.connections).toHaveLength(2)
    }
  })

  test('a connection without TLS carries nothing that is meant for TLS', async () => {
    const sink = await openSink()
    expect(await post(sink)).toMatchObject({ status: 200 })
    const url = `https://127.0.0.1:${sink.port}/hooks`
    expect(await outbound.post({ url, headers: {}, body: '{}' })).toMatchObject({ kind: 'tls' })
    expect(sink.requests).toHaveLength(1)
  })

  test('at most 256 connections to one place are kept', async () => {
    const sockets: Socket[] = []
    const sink = await openScript((_request, socket) => {
      sockets.push(socket)
      if (sockets.length === 258) for (const each of sockets) each.write(OK)
      return undefined
    })
    await Promise.all(Array.from({ length: 258 }, () => post(sink)))
    await until('two of them to close', () => sockets.filter(({ destroyed }) => destroyed).length === 2)
  })
})

describe('an idle connection', () => {
  const kept = (hint = '') => openScript(() => OK.replace('\r\n', `\r\n${hint}`))

  test('an idle connection is used again, and closed after four seconds, or a second before the server closes it', async () => {
    const idleFor = async (hint: string) => {
      const sink = await kept(hint)
      for (const _ of [1, 2]) expect(await post(sink)).toMatchObject({ status: 200 })
      const start = performance.now()
      await once(sink.connections[0]!, 'close')
      expect(sink.connections).toHaveLength(1)
      return Math.round((performance.now() - start) / 1000)
    }
    expect(await Promise.all([idleFor(''), idleFor('Keep-Alive: timeout=3, max=5\r\n')])).toEqual([4, 2])
  })

  test('an idle connection is closed at once where the other end would not wait', async () => {
    const sink = await kept('Keep-Alive: timeout=1\r\n')
    await post(sink)
    await once(sink.connections[0]!, 'close')
  })

  test('an idle connection that says something unasked is closed', async () => {
    const sink = await kept()
    await post(sink)
    sink.connections[0]!.write('HTTP/1.1 299 Forged\r\nContent-Length: 6\r\n\r\nforged')
    await once(sink.connections[0]!, 'close')
    expect(await post(sink)).toMatchObject({ status: 200, body: 'ok' })
  })

  test('an idle connection that the other end ends while the next request is sent is not used again', async () => {
    const sink = await kept()
    await post(sink)
    await turn()
    sink.connections[0]!.end()
    expect(await post(sink)).toMatchObject({ status: 200 })
    expect(sink.connections).toHaveLength(2)
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
