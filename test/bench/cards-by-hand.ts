/**
 * An authorization as one would write it by hand: Express 5, pg, four statements in one transaction with row locks. Over HTTP
 * for a request of the API, and over HTTPS with a client certificate and signed bodies for a message of the network.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import express from 'express'
import pg from 'pg'
import { types } from '../../runtime/database/types.ts'

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10, types })

interface Authorization {
  readonly card_id: string
  readonly amount: number
  readonly merchant: { readonly name: string; readonly category_code: string }
}

async function authorize(client: pg.PoolClient, { card_id, amount, merchant }: Authorization) {
  const card = (await client.query('SELECT * FROM by_hand.cards WHERE id = $1 FOR UPDATE', [card_id])).rows[0]
  const account = (
    await client.query('SELECT * FROM by_hand.accounts WHERE id = $1 FOR UPDATE', [card.account_id])
  ).rows[0]
  const { spent } = (
    await client.query(
      `SELECT coalesce(sum(amount), 0) AS spent FROM by_hand.transactions
        WHERE card_id = $1 AND status = 'authorized' AND created >= date_trunc('month', now())`,
      [card_id],
    )
  ).rows[0]
  const approved =
    card.status === 'active' &&
    !card.blocked.includes(merchant.category_code) &&
    Number(spent) + amount <= card.monthly_limit &&
    amount <= account.balance - account.held
  const status = approved ? 'authorized' : 'declined'
  const { rows } = await client.query(
    `WITH made AS (
       INSERT INTO by_hand.transactions (card_id, amount, merchant, status) VALUES ($1, $2, $3, $4) RETURNING *
     ), held AS (UPDATE by_hand.accounts SET held = held + $5 WHERE id = $6)
     SELECT * FROM made`,
    [card_id, amount, JSON.stringify(merchant), status, approved ? amount : 0, card.account_id],
  )
  return rows[0]
}

async function decide(authorization: Authorization) {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const made = await authorize(client, authorization)
    await client.query('COMMIT')
    return made
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}

const app = express()
app.post('/v1/test/cards/simulate_authorization', express.json(), async (request, response) => {
  response.status(201).json(await decide(request.body))
})

const { NUMBER_KEY = '', SIGNING_KEY = '', SERVER_PEM = '', CLIENT_PEM = '' } = process.env
const digest = (key: string, text: string) => createHmac('sha256', key).update(text).digest()

const door = express()
door.post('/v1/authorizations', express.text({ type: 'application/json' }), async (request, response) => {
  const [, seconds = '', hex = ''] =
    /^t=(\d+),v1=([0-9a-f]{64})$/.exec(`${request.get('Network-Signature')}`) ?? []
  const isFresh = Math.abs(Date.now() / 1000 - Number(seconds)) <= 300
  const wanted = digest(SIGNING_KEY, `${seconds}.${request.body}`)
  if (!(isFresh && hex && timingSafeEqual(Buffer.from(hex, 'hex'), wanted)))
    return void response.status(401).end()
  const { message_id, card_number, amount, merchant } = JSON.parse(request.body)
  const { rows } = await pool.query('SELECT id FROM by_hand.cards WHERE number_digest = $1', [
    digest(NUMBER_KEY, card_number),
  ])
  if (!rows[0]) return void response.status(404).end()
  const { status } = await decide({ card_id: rows[0].id, amount, merchant })
  const decision = status === 'authorized' ? 'approved' : 'declined'
  const body = JSON.stringify({ message_id, decision, amount })
  const now = Math.floor(Date.now() / 1000)
  const signature = `t=${now},v1=${digest(SIGNING_KEY, `${now}.${body}`).toString('hex')}`
  response.set('Network-Signature', signature).type('json').send(body)
})

async function listen(server: Server, scheme: string): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the peer has no port')
  return `${scheme}://127.0.0.1:${address.port}`
}

const pem = readFileSync(SERVER_PEM)
const mutual = { cert: pem, key: pem, ca: CLIENT_PEM, requestCert: true, rejectUnauthorized: true }
const servers = [createServer(app), createSecureServer(mutual, door)] as const
console.log(
  JSON.stringify({ api: await listen(servers[0], 'http'), door: await listen(servers[1], 'https') }),
)
process.once('SIGTERM', () => {
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
  pool.end().catch(console.error)
})
