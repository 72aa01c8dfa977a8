/** An authorization as one would write it by hand: Express 5, pg, four statements in one transaction with row locks. */
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

const app = express()
app.use(express.json())
app.post('/v1/test/cards/simulate_authorization', async (request, response) => {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const made = await authorize(client, request.body)
    await client.query('COMMIT')
    response.status(201).json(made)
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
})

const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the peer has no port')
  console.log(`http://127.0.0.1:${address.port}`)
})
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
  pool.end().catch(console.error)
})
