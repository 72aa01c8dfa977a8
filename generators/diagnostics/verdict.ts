/** The verdict on a difference: a message that proves it, or the reason why no message does. */

/** A verdict as data for `--json` and SARIF. */
export interface PrintedVerdict {
  readonly verdict: 'proven' | 'disproven' | 'unproven'
  /** Why there is no witness. */
  readonly reason?: string
  readonly witness?: PrintedWitness
}

export interface PrintedWitness {
  readonly kind: 'request' | 'answer' | 'event'
  /** `POST /books`, `GET /books answers 200`, `event book.lent`. */
  readonly message: string
  /** The request as a command for a POSIX shell. It reads the key from `API_KEY`. */
  readonly curl?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** The body as JSON, shortened around the part that shows the difference. */
  readonly excerpt?: string
  /** The version that accepts or sends the message, and the one that refuses it or reads it otherwise. */
  readonly acceptedBy: string
  readonly against: string
  readonly reason: string
}

/** Returns the lines of a verdict for a terminal. */
export function linesOfVerdict({ verdict, reason, witness }: PrintedVerdict): string[] {
  if (!witness)
    return [
      verdict === 'disproven' ? `no witness exists, so it does not block: ${reason}` : `unproven: ${reason}`,
    ]
  const { kind, message, curl, headers = {}, excerpt, acceptedBy, against } = witness
  const parts = [
    message,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(excerpt === undefined ? [] : [excerpt]),
  ]
  const accepts = kind === 'request' ? 'accepts' : 'sends'
  return [
    `witness: ${curl ?? parts.join(' ')}`,
    `  ${acceptedBy} ${accepts} it; ${against} ${witness.reason}`,
  ]
}
