/**
 * Records sampled spans with the OpenTelemetry SDK, and exports them over OTLP (HTTP with protobuf). The only module that
 * imports the SDK, whose packages are optional.
 */
import {
  type Context,
  defaultTextMapGetter,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { ExportResultCode, parseKeyPairsIntoRecord, W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  RandomIdGenerator,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Span, SpanAttributes, SpanStart, Tracer } from './span.ts'

/** How requests are traced. */
export interface TracingSettings {
  /** Base URL of an OTLP receiver, without `/v1/traces`. */
  readonly endpoint: string
  /** Headers of export requests: `name=value`, separated by commas, values percent-encoded. */
  readonly headers?: string
  /** Share of traces that are recorded, between 0 and 1. */
  readonly ratio: number
  /** Traces per second that are also recorded because the caller set the sampled flag. */
  readonly callersPerSecond: number
  readonly serviceName: string
}

export interface OtlpOptions {
  /** Called when exports begin to fail. */
  readonly failed: (error: unknown) => void
  /** Called when exports succeed again. */
  readonly resumed: () => void
}

/** Limits the delay of a stop while the receiver does not respond. */
const EXPORT_TIMEOUT_MS = 3000

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER } as const

const propagator = new W3CTraceContextPropagator()
const ids = new RandomIdGenerator()

/** Creates the tracer of a process. See `TracingSettings` for the sampling. */
export function createOtlpTracer(settings: TracingSettings, options: OtlpOptions): Tracer {
  const { endpoint, headers, ratio, callersPerSecond, serviceName } = settings
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    headers: parseKeyPairsIntoRecord(headers),
    timeoutMillis: EXPORT_TIMEOUT_MS,
  })
  const provider = new TracerProvider({
    // Sampling is decided before a span is created. A sampler of the SDK decides by trace ID, which callers can choose.
    sampler: new AlwaysOnSampler(),
    idGenerator: ids,
    // OTEL_RESOURCE_ATTRIBUTES adds attributes.
    resource: resourceFromAttributes({ 'service.name': serviceName }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    spanProcessors: [new BatchSpanProcessor({ exporter: reportFailures(exporter, options) })],
  })
  const tracer = provider.getTracer(serviceName)
  const mayForce = limitPerSecond(callersPerSecond)
  const isSampled = (parent: SpanContext | undefined) =>
    Math.random() < ratio || (parent !== undefined && isFlagged(parent) && mayForce())
  const start = (given: SpanStart, parent: SpanContext | undefined, sampled: boolean) =>
    sampled ? new SampledSpan(tracer, given, contextWith(parent)) : new UnsampledSpan(parent)
  return {
    receive(requestHeaders, given) {
      const parent = readContext(requestHeaders)
      return start(given, parent, isSampled(parent))
    },
    resume(stored, given) {
      if (!stored) return undefined
      const [traceparent, ...tracestate] = stored.split(' ')
      const parent = readContext({ traceparent, tracestate: tracestate.join(' ') || undefined })
      // This service has stored the flag, so it needs no limit.
      return parent && start(given, parent, isFlagged(parent))
    },
    stop: () => provider.shutdown(),
  }
}

const isFlagged = ({ traceFlags }: SpanContext) => (traceFlags & TraceFlags.SAMPLED) !== 0

function readContext(headers: Parameters<Tracer['receive']>[0]): SpanContext | undefined {
  return headers.traceparent === undefined
    ? undefined
    : trace.getSpanContext(propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter))
}

const contextWith = (parent: SpanContext | undefined): Context =>
  parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT

/** Returns a function that returns true at most `limit` times in a second. */
function limitPerSecond(limit: number): () => boolean {
  let [second, count] = [0, 0]
  return () => {
    const now = Math.floor(performance.now() / 1000)
    if (now !== second) [second, count] = [now, 0]
    count += 1
    return count <= limit
  }
}

/** A span that is not recorded. The decision also applies to its children. */
class UnsampledSpan implements Span {
  readonly traceId: string
  readonly spanId = ids.generateSpanId()
  readonly isSampled = false
  readonly #parent: SpanContext | undefined

  constructor(parent: SpanContext | undefined) {
    this.traceId = parent?.traceId ?? ids.generateTraceId()
    this.#parent = parent
  }

  get traceparent(): string {
    return `00-${this.traceId}-${this.spanId}-00`
  }

  get tracestate(): string | undefined {
    return this.#parent?.traceState?.serialize() || undefined
  }

  child(): Span {
    return this
  }

  rename(): void {}
  set(): void {}
  end(): void {}
}

class SampledSpan implements Span {
  readonly isSampled = true
  readonly #tracer: OtelTracer
  readonly #span: ReturnType<OtelTracer['startSpan']>
  #context: Context | undefined

  constructor(tracer: OtelTracer, { name, kind, attributes }: SpanStart, parent: Context) {
    this.#tracer = tracer
    this.#span = tracer.startSpan(name, { kind: kind ? KINDS[kind] : SpanKind.INTERNAL }, parent)
    if (attributes) this.set(attributes)
  }

  get traceId(): string {
    return this.#span.spanContext().traceId
  }

  get spanId(): string {
    return this.#span.spanContext().spanId
  }

  get traceparent(): string {
    return `00-${this.traceId}-${this.spanId}-01`
  }

  get tracestate(): string | undefined {
    return this.#span.spanContext().traceState?.serialize() || undefined
  }

  child(start: SpanStart): Span {
    this.#context ??= trace.setSpan(ROOT_CONTEXT, this.#span)
    return new SampledSpan(this.#tracer, start, this.#context)
  }

  rename(name: string): void {
    this.#span.updateName(name)
  }

  set(attributes: SpanAttributes): void {
    for (const name in attributes) {
      const value = attributes[name]
      if (value !== undefined) this.#span.setAttribute(name, value)
    }
    if (attributes['error.type'] !== undefined) this.#span.setStatus({ code: SpanStatusCode.ERROR })
  }

  end(failure?: unknown): void {
    if (failure !== undefined) this.set({ 'error.type': typeOf(failure) })
    this.#span.end()
  }
}

/** Returns the code of an error, such as its SQLSTATE, or its name. */
function typeOf(failure: unknown): string {
  if (!(failure instanceof Error)) return typeof failure === 'string' ? failure : 'unknown'
  return 'code' in failure && typeof failure.code === 'string' ? failure.code : failure.name
}

/** Reports the first of several failures in a row. The SDK would log each, with a stack trace. */
function reportFailures(exporter: SpanExporter, { failed, resumed }: OtlpOptions): SpanExporter {
  let failing = false
  return {
    export: (spans, done) =>
      exporter.export(spans, ({ code, error }) => {
        const fails = code !== ExportResultCode.SUCCESS
        if (fails && !failing) failed(error)
        if (!fails && failing) resumed()
        failing = fails
        done({ code: ExportResultCode.SUCCESS })
      }),
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush && { forceFlush: () => exporter.forceFlush!() }),
  }
}
