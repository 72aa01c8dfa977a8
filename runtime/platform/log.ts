import { type DestinationStream, destination, type Logger, pino } from 'pino'
import type { Settings } from './settings.ts'

type Replacement = readonly [secret: RegExp, shown: string]

/** API keys, tokens, endpoint secrets and the password of a URL. Each keeps enough to be recognized by. */
const CREDENTIALS: readonly Replacement[] = [
  [/(svc_[ps]k_(?:sandbox|live)_)[0-9A-Za-z]+/g, '$1…'],
  [/((?:fct|whsec|svc_(?:(?:[ar]t|ac)_(?:sandbox|live)|cs))_)[0-9A-Za-z_-]{8,}/g, '$1…'],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@"\\]*:)[^\s/@"\\]+@/gi, '$1…@'],
]

/** Contents of headers that authenticate, and values that their names show to be secret. */
const NAMED_SECRETS: readonly Replacement[] = [
  [/\b(bearer|basic)(\s+)[^\s"\\,]+/gi, '$1$2…'],
  [
    /("(?:authorization|service-factor|service-sandbox-authorization|cookie|set-cookie)":\s*\[?\s*)"(?:[^"\\]|\\.)*"/gi,
    '$1"…"',
  ],
  [/("(?:password|secret|pepper|totp_secret|plaintext)":\s*)"(?:[^"\\]|\\.)*"/gi, '$1"…"'],
]

const replaceAll = (text: string, replacements: readonly Replacement[]): string =>
  replacements.reduce((safe, [secret, shown]) => safe.replace(secret, shown), text)

/** Takes credentials out of a text, wherever in it they are and whoever wrote it. */
export const redactCredentials = (text: string): string => replaceAll(text, CREDENTIALS)

/** Takes secrets out of a line of the log. */
export const redact = (line: string): string => replaceAll(redactCredentials(line), NAMED_SECRETS)

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
