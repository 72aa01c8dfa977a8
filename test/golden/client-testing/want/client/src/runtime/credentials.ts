/** Selects the credentials that a request needs from those that the caller has configured. */
import type { OperationRow, Service } from './service.ts'

/** Credentials for HTTP Basic (RFC 7617). */
export interface UserCredential {
  readonly username: string
  readonly password: string
}

type Asked<Value> = Value | (() => Value | Promise<Value>)

/** The credential for a security scheme. A function is called before each request. */
export type Credential = Asked<string> | Asked<UserCredential>

export interface CredentialOptions {
  /** API key or token for operations that require only one credential. A function is called before each request. */
  readonly apiKey?: Asked<string>
  /** Credentials by security scheme name, for HTTP Basic and for schemes that do not use `apiKey`. */
  readonly credentials?: Readonly<Record<string, Credential>>
}

export interface SentCredentials {
  readonly header: Record<string, string>
  readonly query: Record<string, string>
  readonly cookie: Record<string, string>
}

/**
 * Selects the first security alternative for which the caller has configured all credentials. @returns empty parts if
 * there is none.
 */
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

/** Encodes HTTP Basic credentials (RFC 7617) in UTF-8. */
function basic({ username, password }: UserCredential): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(`${username}:${password}`)))
}
