import type { Admitted, Confirmed, Service } from './exchange.ts'

/** Rows that weigh as much as one request. */
const ROWS = 25

/** A write has a connection of its own, and what it writes beside is more than what it answers. */
const WRITE = 1

/** Waits until the tenant's turn has come: what its other requests have under way is bounded while others are there. */
export function takeTurn(exchange: Confirmed, { admission }: Service): Admitted | Promise<Admitted> {
  const { credential, route } = exchange
  // A stream lasts, and does next to nothing.
  if (route.operation.stream) return exchange as Admitted
  const tenantId = credential.tenant.id
  const weight = weightOf(exchange)
  const begin = () => {
    const began = performance.now()
    exchange.leave = () => admission.leave(tenantId, route.bucket, weight, performance.now() - began)
    return exchange as Admitted
  }
  const turn = admission.enter(tenantId, route.bucket, weight)
  return turn ? turn.then(begin) : begin()
}

/** By how much work it is: what it reads or writes at most. */
function weightOf({ route, query, items }: Confirmed): number {
  const rows = items ? items.length : Number(query.limit ?? 1)
  return (route.write ? WRITE : 0) + Math.ceil(rows / ROWS)
}
