/**
 * Records sampled spans with the OpenTelemetry SDK, and exports them over OTLP (HTTP with protobuf). The only module that
 * imports the SDK, whose packages are optional.
 */
import {
  type Attributes,
  defaultTextMapGetter,
  type HrTime,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { ExportResultCode, parseKeyPairsIntoRecord, W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  RandomIdGenerator,
  type ReadableSpan,
  type SpanExporter,
  type TimedEvent,
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
  const processor = new BatchSpanProcessor({ exporter: reportFailures(exporter, options) })
  const recorder: Recorder = {
    // OTEL_RESOURCE_ATTRIBUTES adds attributes.
    resource: resourceFromAttributes({ 'service.name': serviceName }).merge(
      detectResources({ detectors: [envDetector] }),
    ),
    scope: { name: serviceName },
    ended: (span) => processor.onEnd(span),
  }
  const mayForce = limitPerSecond(callersPerSecond)
  const start = (given: SpanStart, parent: SpanContext | undefined) =>
    new SampledSpan(recorder, given, parent, Date.now() - performance.now())
  return {
    // Callers choose trace IDs, so the decision must not depend on them.
    receive(requestHeaders, given) {
      const parent = readContext(requestHeaders)
      if (Math.random() < ratio || (parent && isFlagged(parent) && mayForce())) return start(given, parent)
      return parent && new UnsampledSpan(parent)
    },
    resume(stored, given) {
      if (!stored) return undefined
      const [traceparent, ...tracestate] = stored.split(' ')
      const parent = readContext({ traceparent, tracestate: tracestate.join(' ') || undefined })
      // This service has stored the flag, so it needs no limit.
      return parent && (isFlagged(parent) ? start(given, parent) : new UnsampledSpan(parent))
    },
    stop: () => processor.shutdown(),
  }
}

const isFlagged = ({ traceFlags }: SpanContext) => (traceFlags & TraceFlags.SAMPLED) !== 0

function readContext(headers: Parameters<Tracer['receive']>[0]): SpanContext | undefined {
  return headers.traceparent === undefined
    ? undefined
    : trace.getSpanContext(propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter))
}

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

/** A span of a caller's trace that is not recorded. The decision also applies to its children. */
class UnsampledSpan implements Span {
  readonly spanId = ids.generateSpanId()
  readonly isSampled = false
  readonly #parent: SpanContext

  constructor(parent: SpanContext) {
    this.#parent = parent
  }

  get traceId(): string {
    return this.#parent.traceId
  }

  get traceparent(): string {
    return `00-${this.traceId}-${this.spanId}-00`
  }

  get tracestate(): string | undefined {
    return this.#parent.traceState?.serialize() || undefined
  }

  child(): Span {
    return this
  }

  rename(): void {}
  set(): void {}
  end(): void {}
}

/** What the spans of a process have in common. */
interface Recorder extends Pick<ReadableSpan, 'resource'> {
  readonly scope: ReadableSpan['instrumentationScope']
  ended(span: ReadableSpan): void
}

const NO_LINKS: Link[] = []
const NO_EVENTS: TimedEvent[] = []
const UNSET: SpanStatus = { code: SpanStatusCode.UNSET }
const FAILED: SpanStatus = { code: SpanStatusCode.ERROR }

/** A span as the exporter reads it. The SDK's own spans cost several times as much. */
class SampledSpan implements Span, ReadableSpan {
  readonly isSampled = true
  readonly kind: SpanKind
  readonly parentSpanContext?: SpanContext
  readonly attributes: Attributes = {}
  readonly links = NO_LINKS
  readonly events = NO_EVENTS
  readonly droppedAttributesCount = 0
  readonly droppedEventsCount = 0
  readonly droppedLinksCount = 0
  name: string
  status = UNSET
  readonly #recorder: Recorder
  readonly #context: SpanContext
  /** Milliseconds from the monotonic clock to the epoch, the same for all spans of a request. */
  readonly #epoch: number
  readonly #beganAt = performance.now()
  #endedAt = Number.NaN

  constructor(recorder: Recorder, start: SpanStart, parent: SpanContext | undefined, epoch: number) {
    this.#recorder = recorder
    this.#epoch = epoch
    this.#context = {
      traceId: parent?.traceId ?? ids.generateTraceId(),
      spanId: ids.generateSpanId(),
      traceFlags: TraceFlags.SAMPLED,
      ...(parent?.traceState && { traceState: parent.traceState }),
    }
    if (parent) this.parentSpanContext = parent
    this.name = start.name
    this.kind = start.kind ? KINDS[start.kind] : SpanKind.INTERNAL
    if (start.attributes) this.set(start.attributes)
  }

  get traceId(): string {
    return this.#context.traceId
  }

  get spanId(): string {
    return this.#context.spanId
  }

  get traceparent(): string {
    return `00-${this.traceId}-${this.spanId}-01`
  }

  get tracestate(): string | undefined {
    return this.#context.traceState?.serialize() || undefined
  }

  get startTime(): HrTime {
    return toHrTime(this.#epoch + this.#beganAt)
  }

  get endTime(): HrTime {
    return toHrTime(this.#epoch + this.#endedAt)
  }

  get duration(): HrTime {
    return toHrTime(this.#endedAt - this.#beganAt)
  }

  get ended(): boolean {
    return !Number.isNaN(this.#endedAt)
  }

  get resource(): ReadableSpan['resource'] {
    return this.#recorder.resource
  }

  get instrumentationScope(): ReadableSpan['instrumentationScope'] {
    return this.#recorder.scope
  }

  spanContext(): SpanContext {
    return this.#context
  }

  child(start: SpanStart): Span {
    return new SampledSpan(this.#recorder, start, this.#context, this.#epoch)
  }

  rename(name: string): void {
    this.name = name
  }

  set(attributes: SpanAttributes): void {
    for (const name in attributes) {
      const value = attributes[name]
      if (value !== undefined) this.attributes[name] = value
    }
    if (attributes['error.type'] !== undefined) this.status = FAILED
  }

  end(failure?: unknown): void {
    if (failure !== undefined) this.set({ 'error.type': typeOf(failure) })
    this.#endedAt = performance.now()
    this.#recorder.ended(this)
  }
}

/** @param ms milliseconds. @returns whole seconds and nanoseconds. */
function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)]
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
