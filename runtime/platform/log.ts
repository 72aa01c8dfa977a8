import { type DestinationStream, destination, type Logger, pino } from 'pino'
import type { Settings } from './settings.ts'

/**
 * What no line may show, wherever in it and whoever wrote it: keys of the API, tokens, secrets of endpoints, whatever stands
 * in an Authorization header, and the password of a URL. Each keeps enough to be recognised by.
 */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b(svc_[ps]k_(?:sandbox|live)_)[0-9A-Za-z]+/g, '$1…'],
  [/\b((?:fct|whsec|svc_[ar]t|svc_cs)_)[0-9A-Za-z_-]{8,}/g, '$1…'],
  [/\b(bearer|basic)(\s+)[^\s"\\,]+/gi, '$1$2…'],
  [
    /("(?:authorization|service-factor|service-sandbox-authorization|cookie|set-cookie)":\s*\[?\s*)"(?:[^"\\]|\\.)*"/gi,
    '$1"…"',
  ],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@"\\]*:)[^\s/@"\\]+@/gi, '$1…@'],
  [/("(?:password|secret|pepper|totp_secret|plaintext)":\s*)"(?:[^"\\]|\\.)*"/gi, '$1"…"'],
]

/** Takes secrets out of a line of the log. */
export function redact(line: string): string {
  let safe = line
  for (const [secret, shown] of SECRETS) safe = safe.replace(secret, shown)
  return safe
}

/** Writes lines to standard error at once, so that the last one before a crash is there too. */
function standardError(): DestinationStream {
  return destination({ dest: 2, sync: true })
}

/** The log of a process: JSON lines, without secrets. */
export function createLog(
  { logLevel }: Pick<Settings, 'logLevel'>,
  stream: DestinationStream = standardError(),
): Logger {
  return pino({ level: logLevel }, { write: (line) => stream.write(redact(line)) })
}
