/** How a request says who is calling: the scheme that its operation asks for, filled in with what the caller gave. */
import type { OperationRow, Service } from './service.ts'

/** A user, for HTTP Basic (RFC 7617). */
export interface UserCredential {
  readonly username: string
  readonly password: string
}

type Asked<Value> = Value | (() => Value | Promise<Value>)

/** What a caller gives for a scheme: a function is asked before each call. */
export type Credential = Asked<string> | Asked<UserCredential>

export interface CredentialOptions {
  /** The key or token for operations that ask for one alone; a function is asked before each call. */
  readonly apiKey?: Asked<string>
  /** By the name that the document gives the scheme: users of HTTP Basic, and what `apiKey` is not for. */
  readonly credentials?: Readonly<Record<string, Credential>>
}

/** The parts of a request that credentials are sent in. */
export interface SentCredentials {
  readonly header: Record<string, string>
  readonly query: Record<string, string>
  readonly cookie: Record<string, string>
}

/** @returns the first alternative whose credentials the caller gave; nothing otherwise. */
export async function credentialsOf(
  { schemes = {}, security = [] }: Service,
  { apiKey, credentials = {} }: CredentialOptions,
  operation: OperationRow,
): Promise<SentCredentials> {
  const sent: SentCredentials = { header: {}, query: {}, cookie: {} }
  for (const names of operation.security ?? security) {
    const given = names.map(
      (name) => credentials[name] ?? (names.length === 1 && !schemes[name]?.basic ? apiKey : undefined),
    )
    if (names.length === 0 || given.some((each) => each === undefined)) continue
    for (const [index, name] of names.entries()) {
      const credential = given[index]
      const scheme = schemes[name]
      if (!scheme) continue
      const value = typeof credential === 'function' ? await credential() : credential
      sent[scheme.in][scheme.name] =
        (scheme.prefix ?? '') + (typeof value === 'object' ? basic(value) : value)
    }
    break
  }
  return sent
}

/** RFC 7617: base64 of UTF-8. */
function basic({ username, password }: UserCredential): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(`${username}:${password}`)))
}
