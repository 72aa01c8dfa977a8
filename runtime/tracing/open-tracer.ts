import type { OtlpOptions, TracingSettings } from './otlp.ts'
import type { Tracer } from './span.ts'

/**
 * Opens the exporter of traces. Its packages are optional, and are loaded only here.
 *
 * @throws Error that says what to install if a package is missing.
 */
export async function openTracer(
  settings: TracingSettings | undefined,
  options: OtlpOptions,
): Promise<Tracer | undefined> {
  if (!settings) return undefined
  try {
    const { createOtlpTracer } = await import('./otlp.ts')
    return createOtlpTracer(settings, options)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
    throw new Error(
      'OTEL_EXPORTER_OTLP_ENDPOINT is set, but the OpenTelemetry packages are not installed: run `npm install --include=optional`, or unset the variable',
      { cause: error },
    )
  }
}
