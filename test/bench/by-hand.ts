/** The operations of the bench behind Express 5 and pg. */
import express from 'express'
import pg from 'pg'
import type { Database, Statement } from '../../runtime/database/database.ts'
import { types } from '../../runtime/database/types.ts'
import { getPass, getPasses, postPass, signPass } from './peer-operations.ts'

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: 10,
  types,
  options: '-c search_path=sandbox',
})

/** Statements as pg takes them by default: one round trip each, not named. */
function plain(client: pg.Pool | pg.PoolClient): Database {
  return {
    async query<Row>(statement: Statement, values: readonly unknown[] = []) {
      const { rows, rowCount } = await client.query(statement.text, [...values])
      return { rows: rows as Row[], count: rowCount ?? 0 }
    },
  }
}

/** The application, without middleware of its own; `prepare` may add some in front. */
export function createPeer(prepare: (app: express.Express) => void = () => {}): express.Express {
  const app = express()
  app.use(express.json())
  prepare(app)
  app.get('/v1/passes/:id', async (request, response) => {
    const pass = await getPass(plain(pool), request.params.id)
    if (pass) response.json(pass)
    else response.status(404).json({ error: 'not found' })
  })
  app.get('/v1/passes', async (request, response) => {
    response.json(await getPasses(plain(pool), Number(request.query.limit ?? 25)))
  })
  app.post('/v1/passes', async (request, response) => {
    const key = String(request.headers['idempotency-key'])
    const signed = await signPass(request.body)
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      const body = await postPass(plain(client), request.body, signed, key)
      await client.query('COMMIT')
      response.status(201).json(body)
    } catch (error) {
      await client.query('ROLLBACK')
      throw error
    } finally {
      client.release()
    }
  })
  return app
}

/** Listens on any free port, says where on one line, and ends on SIGTERM. */
export function serve(app: express.Express): void {
  const server = app.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (typeof address !== 'object' || address === null) throw new Error('the peer has no port')
    process.env.PEER_ORIGIN = `http://127.0.0.1:${address.port}`
    console.log(process.env.PEER_ORIGIN)
  })
  process.once('SIGTERM', () => {
    server.close()
    server.closeAllConnections()
    pool.end().catch(console.error)
  })
}
