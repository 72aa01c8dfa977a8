/** Receives what the service sends: verified, each event once, answered before the work is done. */
import { createServer } from 'node:http'
import { unwrap, WebhookError, type WebhookEvent } from '@dateline/passes/2026-05-19'

const secrets = (process.env.WEBHOOK_SECRETS ?? '').split(',')
const seen = new Set<string>() // a table with a unique key, where there are several processes

function act(event: WebhookEvent): void {
  switch (event.type) {
    case 'pass.created':
      console.log('created', event.data.pass.id, event.data.pass.status)
      break
    case 'pass.updated':
      console.log('updated', event.data.pass.id, Object.keys(event.previous_attributes).join())
      break
    default: // not of interest here, or newer than this program
      console.log('left alone', event.type)
  }
}

const server = createServer(async (request, response) => {
  try {
    const body = Buffer.concat(await request.toArray())
    const event = await unwrap(body, request.headers, secrets)
    response.writeHead(204).end()
    if (seen.has(event.id)) return
    seen.add(event.id)
    act(event)
  } catch (error) {
    if (error instanceof WebhookError) return void response.writeHead(400).end(error.code)
    console.error(error) // the sender has gone, or the work has failed
    if (!response.headersSent) response.writeHead(500).end()
  }
})
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  const address = server.address()
  console.log('listening', typeof address === 'object' ? address?.port : address)
})
