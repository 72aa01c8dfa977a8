import { type DestinationStream, destination, type Logger, pino } from 'pino'
import { traceFields } from '../tracing/span.ts'
import { redactCardNumbers } from './card-numbers.ts'
import type { Settings } from './settings.ts'

type Replacement = readonly [secret: RegExp, shown: string]

/** API keys, tokens, endpoint secrets and passwords in URLs. The replacement keeps enough to recognize them. */
const CREDENTIALS: readonly Replacement[] = [
  [/(svc_[ps]k_(?:sandbox|live)_)[0-9A-Za-z]+/g, '$1…'],
  [/((?:fct|whsec|svc_(?:(?:[ar]t|ac)_(?:sandbox|live)|cs))_)[0-9A-Za-z_-]{8,}/g, '$1…'],
  [/(:\/\/[^\s:/@"\\]*:)[^\s/@"\\]+@/g, '$1…@'],
]

/** Values of authentication headers, and of members and query parameters whose names mark them as secret. */
const NAMED_SECRETS: readonly Replacement[] = [
  [/\b(bearer|basic)(\s+)[^\s"\\,]+/gi, '$1$2…'],
  [
    /("(?:authorization|service-factor|service-sandbox-authorization|cookie|set-cookie)":\s*\[?\s*)"(?:[^"\\]|\\.)*"/gi,
    '$1"…"',
  ],
  [
    /([?&](?:password|secret|token|access_token|refresh_token|client_secret|api_key|code)=)[^&#\s"\\]+/gi,
    '$1…',
  ],
  [/("(?:password|secret|pepper|totp_secret|plaintext)":\s*)"(?:[^"\\]|\\.)*"/gi, '$1"…"'],
]

const replaceAll = (text: string, replacements: readonly Replacement[]): string =>
  replacements.reduce((safe, [secret, shown]) => safe.replace(secret, shown), text)

/** Redacts credentials anywhere in a text. */
export const redactCredentials = (text: string): string => replaceAll(text, CREDENTIALS)

/** A member whose value was a number: the line stays JSON. */
const BARE = /(?<!\\)(":)(\[redacted\])(?=[,}])/g

/** Redacts secrets and card numbers in a log line. */
export const redact = (line: string): string =>
  redactCardNumbers(replaceAll(redactCredentials(line), NAMED_SECRETS)).replaceAll(BARE, '$1"$2"')

/** Writes synchronously to standard error, so that the last line before a crash is not lost. */
function standardError(): DestinationStream {
  return destination({ dest: 2, sync: true })
}

/** Creates the log of a process: JSON lines without secrets. */
export function createLog(
  { logLevel }: Pick<Settings, 'logLevel'>,
  stream: DestinationStream = standardError(),
): Logger {
  return pino({ level: logLevel, mixin: traceFields }, { write: (line) => stream.write(redact(line)) })
}
