/** A body that does not arrive holds one of its tenant's slots no longer than a body may take. */
import { connect, type Socket } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { CONCURRENT_REQUESTS } from '../../runtime/tenants/limits/limiter.ts'
import { makeKey, makeTenant, speak, useService } from '../support/service.ts'
import { talk } from '../support/wire.ts'

const BODY_MS = 600

const service = useService({
  watched: true,
  // Nothing else ends a request before its body does.
  env: {
    SVC_BODY_TIMEOUT_MS: String(BODY_MS),
    SVC_REQUEST_TIMEOUT_MS: '600000',
    SVC_ANSWER_TIMEOUT_MS: '600000',
    SVC_MAX_LOOP_DELAY_MS: '60000',
  },
})
let secret: string
beforeAll(async () => {
  secret = (await makeKey(service, await makeTenant(service))).secret
})

const head = (framing: string) =>
  `POST /v1/passes HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n` +
  `Idempotency-Key: ${crypto.randomUUID()}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n`

test.each([
  ['nothing of it', 'Content-Length: 9', ''],
  ['a part', 'Content-Length: 9', '{'],
  ['a part of a long one', 'Content-Length: 900000', '{'],
  ['a chunk and no end', 'Transfer-Encoding: chunked', '1\r\n{\r\n'],
])(
  'a request of which %s arrives is answered with 408 in our JSON, and the connection ends',
  async (_, framing, part) => {
    const { answers, closed } = await talk(service.urls.sandbox, head(framing) + part, { answers: 2 })
    expect(answers.map(({ status }) => status)).toEqual([408])
    expect(answers[0]?.body.error).toMatchObject({
      type: 'invalid_parameter',
      code: 'invalid_format',
      message: 'The body took too long to arrive.',
      request_id: expect.stringMatching(/^req_/),
    })
    expect(answers[0]?.headers.get('connection')).toBe('close')
    expect(closed).toBe(true)
  },
)

test('a body that drips without end is over when a stalled one is', async () => {
  let drip: NodeJS.Timeout | undefined
  const { answers } = await talk(service.urls.sandbox, head('Content-Length: 1000'), {
    answers: 1,
    afterwards: (socket) => {
      socket.on('error', () => {})
      drip = setInterval(() => socket.write(' '), 20)
    },
  })
  clearInterval(drip)
  expect(answers[0]?.status).toBe(408)
})

test('every slot is taken by stalled bodies, and each is free when its body is given up', async () => {
  const { port, hostname } = new URL(service.urls.sandbox)
  const sockets = new Set<Socket>()
  const answered: Promise<void>[] = []
  let filling = true
  const stall = () => {
    const socket = connect(Number(port), hostname)
    sockets.add(socket)
    socket.on('error', () => {})
    answered.push(
      new Promise((resolve) => {
        socket.once('data', () => {
          if (filling) stall()
          resolve()
        })
      }),
    )
    socket.write(`${head('Content-Length: 9')}{`)
  }
  for (let at = 0; at < CONCURRENT_REQUESTS; at += 1) stall()
  const ask = async () => (await speak(service.urls.sandbox, { secret })('/v1/me')).status
  await expect.poll(ask, { interval: 10, timeout: 20_000 }).toBe(429)
  filling = false
  while (answered.length > 0) await answered.pop()
  // The clients still hold their ends of the connections: what freed the slots is the answer.
  expect(await ask()).toBe(200)
  for (const socket of sockets) socket.destroy()
})
