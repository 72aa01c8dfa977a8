import type { Exchange, Service } from './exchange.ts'

/** Counts the request: by its bucket for the tenant, and as the last use of its key. */
export function countUse({ credential, route, now }: Exchange, { usage, environment }: Service): void {
  usage?.count(environment, credential!.tenant.id, credential!.key.id, route!.bucket, now)
}
