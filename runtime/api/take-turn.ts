import type { Exchange, Service } from './exchange.ts'

/** Rows that weigh as much as one request. */
const ROWS = 25

/** A write has a connection of its own, and what it writes beside is more than what it answers. */
const WRITE = 1

/** Waits until the tenant's turn has come: what its other requests have under way is bounded while others are there. */
export function takeTurn(exchange: Exchange, { admission }: Service): void | Promise<void> {
  const { credential, route } = exchange
  // A stream lasts, and does next to nothing.
  if (route!.operation.stream) return
  const words = [credential!.tenant.id, route!.bucket, weightOf(exchange)] as const
  const begin = () => {
    const began = performance.now()
    exchange.leave = () => admission.leave(...words, performance.now() - began)
  }
  const turn = admission.enter(...words)
  return turn ? turn.then(begin) : begin()
}

/** By how much work it is: what it reads or writes at most. */
function weightOf({ route, query, items }: Exchange): number {
  const rows = items ? items.length : Number(query.limit ?? 1)
  return (route!.writes ? WRITE : 0) + Math.ceil(rows / ROWS)
}
