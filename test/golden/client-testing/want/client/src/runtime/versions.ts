/** Clients for several versions of a service that share their settings, and one webhook receiver for all of them. */
import type { ClientOptions } from './connect.ts'
import { ClientError } from './errors.ts'
import {
  type UnwrapOptions,
  valuesOf,
  verifyDelivery,
  type WebhookBody,
  WebhookError,
  type WebhookHeaders,
  type WebhookSecret,
} from './webhooks.ts'

/** Clients of all versions that share their settings. */
export interface Versioned<Clients> {
  /**
   * Returns the client of a version, the same one each time. All its requests use that version.
   *
   * @throws ClientError if the version does not exist.
   */
  at<Version extends keyof Clients>(version: Version): Clients[Version]
}

/** Creates clients lazily. @param creators functions that create the client of each version. */
export function connectVersions<Clients>(
  creators: { readonly [Version in keyof Clients]: (options: ClientOptions) => Clients[Version] },
  options: ClientOptions,
): Versioned<Clients> {
  const made: { [Version in keyof Clients]?: Clients[Version] } = {}
  return {
    at<Version extends keyof Clients>(version: Version): Clients[Version] {
      if (!Object.hasOwn(creators, version)) {
        const known = Object.keys(creators).join(', ')
        throw new ClientError(`Version ${String(version)} does not exist: expected one of ${known}`)
      }
      made[version] ??= creators[version](options)
      return made[version] as Clients[Version]
    },
  }
}

/** The parts of a delivery that identify its version. */
export interface SignedVersions {
  /** The signature header of each version. */
  readonly headers: Readonly<Record<string, string>>
  /** The member of an event that names its version. */
  readonly member: string
}

/**
 * Verifies a delivery in any version, with the signature header that it has.
 *
 * @throws WebhookError if the delivery must be rejected; `code` gives the reason. It is `unknown_version` if this
 *   client has no types for the version of the event.
 */
export async function verifyAnyDelivery<Event>(
  { headers: listed, member }: SignedVersions,
  body: WebhookBody,
  headers: WebhookHeaders,
  secret: WebhookSecret,
  options?: UnwrapOptions,
): Promise<Event> {
  const names = [...new Set(Object.values(listed))]
  const header = names.find((name) => valuesOf(headers, name).length > 0) ?? names.at(-1) ?? ''
  const event = await verifyDelivery<Readonly<Record<string, unknown>>>(
    header,
    body,
    headers,
    secret,
    options,
  )
  const version = String(event[member])
  if (!Object.hasOwn(listed, version)) {
    const known = Object.keys(listed).join(', ')
    throw new WebhookError(
      'unknown_version',
      `The event has version ${version}: expected one of ${known}. Update the client package.`,
    )
  }
  return event as Event
}
