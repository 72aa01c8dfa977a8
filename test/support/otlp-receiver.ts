/** An OTLP receiver for traces: HTTP with protobuf, decoded strictly (opentelemetry-proto, trace/v1/trace.proto). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { until } from './programs.ts'

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string
  readonly traceState: string
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer'
  /** Milliseconds since the epoch. */
  readonly start: number
  readonly end: number
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  readonly isError: boolean
  /** Attributes of the process. */
  readonly resource: Readonly<Record<string, string | number | boolean>>
}

export interface OtlpReceiver {
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  /** All request bodies as text, to search them for secrets. */
  text(): string
  /** Headers of the export requests. */
  readonly headers: readonly NodeJS.Dict<string | string[]>[]
  /** Waits until the spans of a trace satisfy the condition. */
  waitFor(
    traceId: string,
    condition: (spans: readonly ReceivedSpan[]) => boolean,
  ): Promise<readonly ReceivedSpan[]>
  close(): void
}

export async function openOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const bodies: Buffer[] = []
  const headers: NodeJS.Dict<string | string[]>[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const whole = Buffer.concat(parts)
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(whole) : whole
    assert.deepEqual([request.method, request.url], ['POST', '/v1/traces'])
    assert.equal(request.headers['content-type'], 'application/x-protobuf')
    headers.push(request.headers)
    bodies.push(body)
    spans.push(...decodeRequest(body))
    response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const ofTrace = (traceId: string) => spans.filter((span) => span.traceId === traceId)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    text: () => Buffer.concat(bodies).toString('latin1'),
    waitFor: (traceId, condition) =>
      until(`the spans of trace ${traceId}`, () => condition(ofTrace(traceId)) && ofTrace(traceId)),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Fields of a message: number and value. Bytes for length-delimited fields, otherwise an integer. */
type Fields = readonly (readonly [number: number, value: bigint | Buffer])[]

const VARINT = 0
const FIXED64 = 1
/** Lengths of the wire types that have a fixed one. */
const FIXED_BYTES: Readonly<Record<number, number>> = { [FIXED64]: 8, 5: 4 }
/** Wire types that occur: varint, 64 bits, bytes and 32 bits. */
const TYPES = [VARINT, FIXED64, 2, 5]

/** Parses one message (Protocol Buffers, "Encoding"). Throws if it is malformed. */
function parseMessage(message: Buffer): Fields {
  const fields: [number, bigint | Buffer][] = []
  let at = 0
  const varint = () => {
    for (let [value, shift] = [0n, 0n]; ; shift += 7n) {
      assert.ok(at < message.length && shift < 70n, 'a varint is truncated or too long')
      const byte = message[at++]!
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < message.length) {
    const tag = Number(varint())
    const type = tag & 7
    assert.ok(TYPES.includes(type), `wire type ${type} is not expected`)
    if (type === VARINT) {
      fields.push([tag >> 3, varint()])
      continue
    }
    const length = FIXED_BYTES[type] ?? Number(varint())
    assert.ok(at + length <= message.length, 'a field is truncated')
    const value = message.subarray(at, at + length)
    fields.push([tag >> 3, type === FIXED64 ? value.readBigUInt64LE() : value])
    at += length
  }
  return fields
}

const all = (fields: Fields, wanted: number) =>
  fields.filter(([number]) => number === wanted).map(([, value]) => value)
const messages = (fields: Fields, wanted: number) =>
  all(fields, wanted).map((value) => parseMessage(value as Buffer))
const bytes = (fields: Fields, wanted: number) => (all(fields, wanted).at(-1) ?? Buffer.alloc(0)) as Buffer
const integer = (fields: Fields, wanted: number) => (all(fields, wanted).at(-1) ?? 0n) as bigint

function decodeRequest(body: Buffer): readonly ReceivedSpan[] {
  return messages(parseMessage(body), 1).flatMap((resourceSpans) => {
    const resource = attributesOf(messages(resourceSpans, 1).flat(), 1)
    const scopes = messages(resourceSpans, 2)
    return scopes.flatMap((scope) => messages(scope, 2).map((span) => decodeSpan(span, resource)))
  })
}

const KINDS = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const
const ERROR = 2n

function decodeSpan(span: Fields, resource: ReceivedSpan['resource']): ReceivedSpan {
  const hex = (field: number, length: number) => {
    const id = bytes(span, field)
    assert.equal(id.length, length, `field ${field} of a span has the wrong length`)
    return id.toString('hex')
  }
  const ms = (field: number) => Number(integer(span, field)) / 1e6
  return {
    traceId: hex(1, 16),
    spanId: hex(2, 8),
    parentSpanId: all(span, 4).length === 0 ? '' : hex(4, 8),
    traceState: bytes(span, 3).toString(),
    name: bytes(span, 5).toString(),
    kind: KINDS[Number(integer(span, 6))]!,
    start: ms(7),
    end: ms(8),
    attributes: attributesOf(span, 9),
    isError: messages(span, 15).some((status) => integer(status, 3) === ERROR),
    resource,
  }
}

function attributesOf(message: Fields, field: number): Record<string, string | number | boolean> {
  const pairs = messages(message, field).map(
    (pair) => [bytes(pair, 1).toString(), messages(pair, 2)[0]!] as const,
  )
  return Object.fromEntries(pairs.map(([key, [value]]) => [key, readValue(value!)]))
}

/** Decodes an `AnyValue`. */
function readValue([field, value]: Fields[number]): string | number | boolean {
  if (field === 1) return value.toString()
  if (field === 2) return value === 1n
  assert.equal(field, 3, `attribute values of field ${field} are not expected`)
  return Number(value)
}
