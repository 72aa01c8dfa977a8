/** What the runtime reaches without an HTTP client of its own: `fetch` and HTTP/2. Requests go over the simulated network. */
import { EventEmitter } from 'node:events'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import type { Network } from '../network.ts'

const http2 = createRequire(import.meta.url)('node:http2') as Record<string, unknown>
const zlib = createRequire(import.meta.url)('node:zlib') as {
  createDeflate: unknown
  deflateSync: (data: Buffer, options: object) => Buffer
}

type Outbound = Network['outbound']

/** A request over a simulated HTTP/2 connection. Emits the same events as `ClientHttp2Stream`. */
class Http2Stream extends EventEmitter {
  rstCode = 0
  #isOver = false
  readonly #send: (body: string) => ReturnType<Outbound['send']>
  readonly #lose: (error: Error) => void

  constructor(send: (body: string) => ReturnType<Outbound['send']>, lose: (error: Error) => void) {
    super()
    this.#send = send
    this.#lose = lose
  }
  setEncoding(): void {}
  end(body: string): void {
    this.#send(body).then(
      (answer) => {
        if (this.#isOver) return
        if ('error' in answer) {
          // The connection is gone, and with it its other requests.
          this.#lose(new Error(answer.error))
          return
        }
        this.emit('response', { ':status': answer.status })
        this.emit('data', answer.body)
        this.#finish()
      },
      (error: Error) => this.destroy(error),
    )
  }
  destroy(error?: Error): void {
    if (this.#isOver) return
    if (error) this.emit('error', error)
    this.#finish()
  }
  #finish(): void {
    this.#isOver = true
    this.emit('close')
  }
}

/** A simulated HTTP/2 connection. Emits the same events as `ClientHttp2Session`. */
class Http2Session extends EventEmitter {
  closed = false
  remoteSettings = { maxConcurrentStreams: 100 }
  readonly #streams = new Set<Http2Stream>()
  readonly #outbound: Outbound
  readonly #url: string

  constructor(outbound: Outbound, url: string) {
    super()
    this.#outbound = outbound
    this.#url = url
    setImmediate(() => {
      if (!this.closed) this.emit('remoteSettings', this.remoteSettings)
    })
  }
  request(headers: Readonly<Record<string, string>>): Http2Stream {
    const { ':path': path = '/', ...others } = headers
    const url = `${this.#url}${path}`
    const stream = new Http2Stream(
      (body) => this.#outbound.send({ method: 'POST', url, headers: others, body }),
      (error) => this.destroy(error),
    )
    this.#streams.add(stream)
    stream.once('close', () => this.#streams.delete(stream))
    return stream
  }
  ping(done: (error: Error | null) => void): void {
    setImmediate(() => done(null))
  }
  close(): void {
    if (this.closed) return
    this.closed = true
    this.emit('close')
  }
  destroy(error?: Error): void {
    if (this.closed) return
    for (const stream of this.#streams) stream.destroy(error ?? new Error('the connection was closed'))
    if (error) this.emit('error', error)
    this.close()
  }
}

/** Compresses at the end, in this thread: a thread of zlib would end at a moment that no seed decides. */
class Deflate extends EventEmitter {
  readonly #options: object
  readonly #parts: Buffer[] = []
  constructor(options: object) {
    super()
    this.#options = options
  }
  write(part: Buffer): boolean {
    this.#parts.push(part)
    return true
  }
  end(part?: Buffer): void {
    if (part) this.#parts.push(part)
    this.emit('data', zlib.deflateSync(Buffer.concat(this.#parts), this.#options))
    this.emit('end')
  }
}

/** The property is read-only. */
const setDeflate = (value: unknown) =>
  Object.defineProperty(zlib, 'createDeflate', { value, configurable: true, enumerable: true })

/** Takes over `fetch`, HTTP/2 connections and compression. @returns a function that gives them back. */
export function takeOutside(outbound: Outbound): () => void {
  const { fetch } = globalThis
  const { connect } = http2
  const { createDeflate } = zlib
  globalThis.fetch = async (url, { headers, body } = {}) => {
    const request = { headers: headers as Record<string, string>, body: String(body) }
    const answer = await outbound.send({ method: 'POST', url: String(url), ...request })
    if ('error' in answer) throw new DOMException(answer.error, 'TimeoutError')
    return new Response(answer.body, { status: answer.status })
  }
  http2.connect = (url: string) => new Http2Session(outbound, url)
  setDeflate((options: object) => new Deflate(options))
  syncBuiltinESMExports()
  return () => {
    globalThis.fetch = fetch
    http2.connect = connect
    setDeflate(createDeflate)
    syncBuiltinESMExports()
  }
}
