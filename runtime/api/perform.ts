import { notImplemented } from './errors.ts'
import type { Admitted, Performed, Service } from './exchange.ts'
import { read } from './read.ts'
import { write } from './write.ts'

/** Has the operation's handler do what is asked for. */
export async function perform(exchange: Admitted, service: Service): Promise<Performed> {
  const { handler, write: rules } = exchange.route
  if (!handler) notImplemented()
  exchange.reached = true
  exchange.reply = rules
    ? await write(exchange, service, handler, rules)
    : await read(exchange, service, handler)
  return exchange as Performed
}
