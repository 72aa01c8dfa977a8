import type { TracingSettings } from '../tracing/otlp.ts'
import { type Read, type SettingReader, url, whole } from './setting-readers.ts'

const SHARE = /^(0|1|0?\.\d{1,9}|1\.0+|0\.0+)$/

const share: SettingReader<number> = (text = '0.1') => {
  if (SHARE.test(text)) return Number(text)
  throw new Error(`"${text}" is not a share: expected a number from 0 to 1, such as 0.1`)
}

/** Replaced by a trace ID in `TRACE_URL`. */
const TRACE_ID = '{trace_id}'

const template: SettingReader<string | undefined> = (text) => {
  if (text === undefined) return undefined
  url(['http:', 'https:'])(text)
  if (text.includes(TRACE_ID)) return text
  throw new Error(`"${text}" does not contain ${TRACE_ID}, which is replaced by the trace ID`)
}

/** Reads the variables of tracing. `tracing` is undefined if traces are not exported. */
export function readTracing(read: Read): {
  readonly tracing: TracingSettings | undefined
  readonly traceUrl: string | undefined
} {
  const endpoint = read('OTEL_EXPORTER_OTLP_ENDPOINT', url(['http:', 'https:']))
  const headers = read('OTEL_EXPORTER_OTLP_HEADERS', (text) => text)
  const serviceName = read('OTEL_SERVICE_NAME', (text = 'wallet-pass-service') => text) ?? ''
  const ratio = read('OTEL_TRACES_SAMPLER_ARG', share) ?? 0
  const callersPerSecond = read('SVC_TRACE_CALLERS_PER_SECOND', whole(10, 0, 100_000)) ?? 0
  const tracing = { ratio, callersPerSecond, serviceName, ...(headers !== undefined && { headers }) }
  return {
    tracing: endpoint === undefined ? undefined : { endpoint, ...tracing },
    traceUrl: read('TRACE_URL', template),
  }
}

/** Returns the URL of a trace. */
export const traceUrlOf = (traceUrl: string, traceId: string): string =>
  traceUrl.replaceAll(TRACE_ID, traceId)
