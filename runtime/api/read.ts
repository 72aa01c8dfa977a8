import { createContext, createInput } from './context.ts'
import { type Admitted, databaseOf, type Service, type WrittenReply } from './exchange.ts'
import type { Handler } from './routes.ts'

/** A read is its handler alone. */
export async function read(exchange: Admitted, service: Service, handler: Handler): Promise<WrittenReply> {
  const input = createInput(exchange)
  const context = createContext(exchange, service, databaseOf(exchange, service), input.query)
  const { status, body } = await handler(context, input as never)
  return { status, body, text: undefined, replayed: false }
}
