/** Debug output: one line for each attempt if the environment variable DATELINE_LOG is `debug`. */
import type { Attempt } from './transport.ts'

/** Absent in browsers and some workers. */
const environment = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env

/**
 * Returns a listener that writes each attempt before it calls the given one. URLs are written without their query,
 * because queries can hold personal data; headers and bodies are not written.
 */
export function loggedAttempts(
  onAttempt: ((attempt: Attempt) => void) | undefined,
): ((attempt: Attempt) => void) | undefined {
  if (environment?.DATELINE_LOG !== 'debug') return onAttempt
  return (attempt) => {
    console.debug(lineOf(attempt))
    onAttempt?.(attempt)
  }
}

function lineOf({ method, url, attempt, status, error, durationMs, retryInMs }: Attempt): string {
  const outcome = status ?? error?.name ?? 'no response'
  const again = retryInMs === undefined ? '' : `, retry in ${Math.round(retryInMs)} ms`
  return `[dateline] ${method} ${url.split('?')[0]} → ${outcome} in ${Math.round(durationMs)} ms, attempt ${attempt}${again}`
}
