import { ApiError, invalidParameter } from './errors.ts'
import type { Exchange, Service } from './exchange.ts'

/** Step 5: the version asked for, or else the tenant's pin. */
export function resolveVersion(exchange: Exchange, { versions }: Service): void {
  const header = exchange.request.headers['service-version']
  const name = header === undefined ? exchange.credential!.pin : String(header)
  const version = name === null ? versions.current : versions.find(name)
  if (!version) {
    throw invalidParameter('unknown_version', 'Service-Version', `There is no version ${name?.slice(0, 40)}.`)
  }
  exchange.version = version
  if (exchange.now < version.sunset) return
  const successor = versions.successor(exchange.now)
  throw new ApiError(
    410,
    'version_sunset',
    'version_gone',
    `Version ${version.name} is no longer answered; ${successor.name} is.`,
    { extras: { successor_version: successor.name, guide_url: successor.referenceUrl } },
  )
}
