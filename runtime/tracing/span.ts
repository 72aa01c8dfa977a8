/**
 * Spans of traces (W3C Trace Context), independent of the exporter. The span of the work in progress is current for all
 * code that the work calls. Without a current span, the functions here only call the work.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

/** Attributes of a span. They never contain values of tenants other than identifiers. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

export interface SpanStart {
  readonly name: string
  /** What the span does: answers a request, sends one, performs queued work, or none of these. Default: none. */
  readonly kind?: 'server' | 'client' | 'consumer' | undefined
  readonly attributes?: SpanAttributes | undefined
}

/** One piece of work of a trace, from the call that returned it until `end`. */
export interface Span {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** 16 hexadecimal digits. */
  readonly spanId: string
  /** Whether the span is recorded and exported. If not, its identifiers are still passed on. */
  readonly isSampled: boolean
  /** Header of requests that belong to the span. */
  readonly traceparent: string
  /** Values of other tracing systems, to be passed on unchanged; undefined if there are none. */
  readonly tracestate: string | undefined
  /** Starts a span of work that belongs to this span's work. If this span is not sampled, returns this span. */
  child(start: SpanStart): Span
  rename(name: string): void
  /** Adds attributes. With `error.type`, the work counts as failed. */
  set(attributes: SpanAttributes): void
  /** @param failure set if the work failed. Its message is not recorded, because it may contain values. */
  end(failure?: unknown): void
}

/** Starts the spans without a parent in this process. */
export interface Tracer {
  /**
   * Starts the span of a request. An invalid `traceparent` is ignored (W3C Trace Context, section 4.3).
   *
   * @returns undefined if the trace is not recorded and the caller's headers have none to pass on.
   */
  receive(
    headers: Readonly<Record<string, string | string[] | undefined>>,
    start: SpanStart,
  ): Span | undefined
  /**
   * Starts a span of work that was queued with the context of a different span.
   *
   * @param stored what `contextToStore` returned.
   * @returns undefined if the work was queued without a context.
   */
  resume(stored: string | null | undefined, start: SpanStart): Span | undefined
  /** Exports the spans that have ended. */
  stop(): Promise<void>
}

const current = new AsyncLocalStorage<Span | undefined>()

/** Returns the span of the work in progress. */
export const currentSpan = (): Span | undefined => current.getStore()

/** Returns the identifiers of the current span as log fields (OpenTelemetry, "Trace Context in non-OTLP Log Formats"). */
export function traceFields(): object {
  const span = currentSpan()
  return span ? { trace_id: span.traceId, span_id: span.spanId } : {}
}

/**
 * Returns the current trace context as text, to be stored with work that is done later: `traceparent`, and after a space
 * `tracestate`. Undefined without a current span.
 */
export function contextToStore(): string | undefined {
  const span = currentSpan()
  return span && (span.tracestate ? `${span.traceparent} ${span.tracestate}` : span.traceparent)
}

/**
 * Does the work with the span as the current one, and ends the span with the work.
 *
 * @param describe returns attributes for the result.
 */
export async function runInSpan<T>(
  span: Span | undefined,
  work: () => Promise<T>,
  describe?: (result: T) => SpanAttributes,
): Promise<T> {
  return span ? current.run(span, () => endWith(span, work(), describe)) : work()
}

/**
 * Records the work as a child of the current span. The child does not become the current span.
 *
 * @param start called only if the child is recorded.
 * @param work gets the child; the current span if that is not sampled; undefined without a current span.
 * @returns the promise that the work returned.
 */
export function recordChild<T>(
  start: () => SpanStart,
  work: (span: Span | undefined) => Promise<T>,
  describe?: (result: T) => SpanAttributes,
): Promise<T> {
  const parent = current.getStore()
  if (!parent?.isSampled) return work(parent)
  const span = parent.child(start())
  return endWith(span, work(span), describe)
}

/** Does work that lasts longer than the current span, which it must not extend by more and more children. */
export const runOutsideSpans = <T>(work: () => T): T => current.run(undefined, work)

function endWith<T>(span: Span, working: Promise<T>, describe?: (result: T) => SpanAttributes): Promise<T> {
  working.then(
    (result) => {
      if (describe && span.isSampled) span.set(describe(result))
      span.end()
    },
    (error) => span.end(isRefusal(error) ? undefined : error),
  )
  return working
}

/** Whether the caller caused the error (OpenTelemetry: a 4xx answer is no failure of the server). */
const isRefusal = (error: unknown): boolean =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' && error.status < 500
