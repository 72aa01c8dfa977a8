/** Streams end to end: one handler in the newest version, generated clients of both versions, real sockets. */
import express from 'express'
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { createVersionedApi, ErrorReply, fromHeader, type TouchedCall } from '../../generators/server/api.ts'
import { toExpress } from '../../generators/server/express.ts'
import { toHono } from '../../generators/server/hono.ts'
import { toNodeListener } from '../../generators/server/node.ts'
import type { Handlers } from '../golden/streams/want/canonical/handlers.ts'
import type { ParcelEvent } from '../golden/streams/want/canonical/types.ts'
import * as old from '../golden/streams/want/client/src/2030-01-01/index.ts'
import * as newest from '../golden/streams/want/client/src/2030-06-01/index.ts'
import { versions } from '../golden/streams/want/versions.ts'
import { listening } from './listening.ts'

/** What the handlers saw and did. */
const seen = { lastEventId: undefined as string | undefined, taken: 0 }
let ended = Promise.withResolvers<string>()
const errors: unknown[] = []
const touched: TouchedCall<string>[] = []

async function* events(after: string | undefined): AsyncGenerator<ParcelEvent> {
  for (let n = Number(after ?? 0) + 1; n <= 2; n++)
    yield { event: 'moved', id: String(n), data: { id: `parcel_${n}`, location: 'Berlin\nMitte' } }
  yield { event: 'notice', data: 'two\nlines', retry: 500 }
}

async function* parcels() {
  try {
    for (let n = 1; n <= 100_000; n++) {
      seen.taken = n
      yield { id: `parcel_${n}`, location: 'x'.repeat(10_000) }
    }
    ended.resolve('to its end')
  } finally {
    ended.resolve('early')
  }
}

/** The weights that the next call yields. */
let weights: () => AsyncIterable<{ weight_grams: number }>

const handlers: Handlers<string> = {
  async watchParcels(_context, { lastEventId }) {
    seen.lastEventId = lastEventId
    if (lastEventId === 'unknown') throw new ErrorReply(400, { code: 'unknown' })
    return { status: 200, body: events(lastEventId) }
  },
  exportParcels: async () => ({ status: 200, body: parcels() }),
  listWeights: async () => ({ status: 200, body: weights() }),
}

const api = createVersionedApi({
  versions,
  handlers,
  context: () => 'caller',
  resolveVersion: fromHeader('Api-Version'),
  onError: (error) => errors.push(error),
  onTouched: (call) => touched.push(call),
})

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = []
  for await (const item of items) list.push(item)
  return list
}

const listeners = {
  'node:http': toNodeListener(api),
  Express: express().use(toExpress(api)),
  Hono: toNodeListener(new Hono().all('*', toHono(api))),
}

describe.each(Object.entries(listeners))('%s', (_name, listener) => {
  const base = listening(listener)
  const options = () => ({ baseUrl: base(), maxRetries: 0 })
  const headers = (version: string) => ({ headers: { 'Api-Version': version } })
  const clients = () => ({
    old: old.createClient({ ...options(), ...headers('2030-01-01') }),
    newest: newest.createClient({ ...options(), ...headers('2030-06-01') }),
  })

  test('events reach each version in its own words', async () => {
    const notice = { event: 'notice', data: 'two\nlines', retry: 500 }
    expect(await all(clients().newest.watchParcels())).toEqual([
      { event: 'moved', id: '1', data: { id: 'parcel_1', location: 'Berlin\nMitte' } },
      { event: 'moved', id: '2', data: { id: 'parcel_2', location: 'Berlin\nMitte' } },
      notice,
    ])
    touched.length = 0
    const places: string[] = []
    for await (const item of clients().old.watchParcels())
      places.push(item.event === 'moved' ? item.data.place : item.data)
    expect(places).toEqual(['Berlin\nMitte', 'Berlin\nMitte', 'two\nlines'])
    expect(touched.map(({ changes }) => [...changes])).toEqual([['2030-06-01/name-location']])
  })

  test('a reader continues after the last event that it received', async () => {
    const items = await all(clients().old.watchParcels({ headers: { 'Last-Event-ID': '1' } }))
    expect(seen.lastEventId).toBe('1')
    expect(items).toHaveLength(2)
  })

  test('an error before the stream begins is an answer', async () => {
    const call = clients().old.watchParcels({ headers: { 'Last-Event-ID': 'unknown' } })
    await expect(call).rejects.toMatchObject({ status: 400, body: { code: 'unknown' } })
  })

  test('a stream is neither collected nor read ahead: it ends when its reader leaves', async () => {
    ended = Promise.withResolvers()
    for await (const { place } of clients().old.exportParcels()) {
      expect(place).toHaveLength(10_000)
      break
    }
    expect(await ended.promise).toBe('early')
    expect(seen.taken).toBeLessThan(5_000)
  })

  test('an abort of the call ends the stream with the reason of its signal', async () => {
    ended = Promise.withResolvers()
    const abort = new AbortController()
    const reading = async () => {
      for await (const _ of clients().old.exportParcels({ signal: abort.signal }))
        abort.abort(new Error('enough'))
    }
    await expect(reading()).rejects.toThrow('enough')
    expect(await ended.promise).toBe('early')
  })

  test('records are translated where they have no name in the document', async () => {
    weights = async function* () {
      yield { weight_grams: 1 }
      yield { weight_grams: 2 }
    }
    expect(await all(clients().old.listWeights())).toEqual([{ grams: 1 }, { grams: 2 }])
    expect(await all(clients().newest.listWeights())).toEqual([{ weight_grams: 1 }, { weight_grams: 2 }])
  })

  test('a stream that fails breaks off, so that its reader does not take it for complete', async () => {
    weights = async function* () {
      yield { weight_grams: 1 }
      throw new Error('a fault of the handler')
    }
    const read: number[] = []
    const reading = async () => {
      for await (const { grams } of clients().old.listWeights()) read.push(grams)
    }
    errors.length = 0
    await expect(reading()).rejects.toBeInstanceOf(old.ConnectionError)
    // What was sent last can be lost with the connection.
    expect([[], [1]]).toContainEqual(read)
    expect(errors).toEqual([new Error('a fault of the handler')])
  })

  test('an item that does not fit the document is not sent, and ends the handler', async () => {
    let isOver = false
    weights = async function* () {
      try {
        yield { weight_grams: 1.5 }
      } finally {
        isOver = true
      }
    }
    errors.length = 0
    await expect(all(clients().old.listWeights())).rejects.toBeInstanceOf(old.ConnectionError)
    expect(String(errors[0])).toContain('listWeights yields an item that the document of version 2030-01-01')
    expect(isOver).toBe(true)
  })
})
