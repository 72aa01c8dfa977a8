/** Several versions of a service at once: one set of settings, one receiver. */
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

/** The clients of all versions under one set of settings. */
export interface Versioned<Clients> {
  /**
   * The client of a version: its every call is answered in that version. The same one each time.
   *
   * @throws ClientError when there is no such version.
   */
  at<Version extends keyof Clients>(version: Version): Clients[Version]
}

/** @param creators what makes the client of each version, by its name. */
export function connectVersions<Clients>(
  creators: { readonly [Version in keyof Clients]: (options: ClientOptions) => Clients[Version] },
  options: ClientOptions,
): Versioned<Clients> {
  const made: { [Version in keyof Clients]?: Clients[Version] } = {}
  return {
    at<Version extends keyof Clients>(version: Version): Clients[Version] {
      if (!Object.hasOwn(creators, version)) {
        const known = Object.keys(creators).join(', ')
        throw new ClientError(`There is no version ${String(version)}; there are ${known}`)
      }
      made[version] ??= creators[version](options)
      return made[version] as Clients[Version]
    },
  }
}

/** How deliveries of all versions are told apart. */
export interface SignedVersions {
  /** Under which header each version sends its signature. */
  readonly headers: Readonly<Record<string, string>>
  /** The member of an event that names its version. */
  readonly member: string
}

/**
 * Verifies a delivery of any version, under the header that it came with.
 *
 * @throws WebhookError whose `code` says why the delivery must not be acted upon; `unknown_version` when it is written
 * in a version that is not listed, of which the types would say nothing.
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
    throw new WebhookError('unknown_version', `The event is written in ${version}; known are ${known}`)
  }
  return event as Event
}
