/**
 * The peer of the bench: the three operations as one writes them by hand with Express 5 and pg. It runs the service's
 * own statements and shows the same bodies, but knows no keys, limits, versions or validation.
 */
import { randomBytes } from 'node:crypto'
import express from 'express'
import pg from 'pg'
import { appendAuditAndAnswer } from '../../runtime/db/audit.ts'
import type { Database, Statement } from '../../runtime/db/database.ts'
import { claimKey } from '../../runtime/db/idempotency.ts'
import { shareTemplates } from '../../runtime/db/pass_templates.ts'
import { insertPasses, listPasses, type PassRow, readPass } from '../../runtime/db/passes.ts'
import { types } from '../../runtime/db/types.ts'
import { showPass } from '../../runtime/handlers/pass-view.ts'
import { newId } from '../../runtime/ids.ts'

const tenantId = process.env.TENANT_ID ?? ''
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

interface Order {
  readonly template_id: string
  readonly holder: { readonly email: string; readonly name: string }
  readonly fields: Record<string, string>
}

async function createPass(db: Database, order: Order, key: string, now: number): Promise<PassRow> {
  await claimKey(db, 'sandbox', tenantId, key)
  const template = (await shareTemplates(db, tenantId, [order.template_id])).get(order.template_id)
  if (!template) throw new Error('no such template')
  const row: PassRow = {
    id: newId('pass', now),
    template_id: template.id,
    status: 'issued',
    holder_email: order.holder.email,
    holder_name: order.holder.name,
    fields: order.fields,
    platforms: [],
    page_token: randomBytes(18).toString('base64url'),
    google_url: 'https://pay.google.com/gp/v/save/unsigned',
    metadata: {},
    expires_at: null,
    installed_at: null,
    revoked_at: null,
    archived_at: null,
    created: now,
    updated: now,
    template_fields: template.fields,
  }
  await insertPasses(db, tenantId, [row])
  return row
}

/** The application, without middleware of its own; `prepare` may add some in front. */
export function createPeer(prepare: (app: express.Express) => void = () => {}): express.Express {
  const app = express()
  app.use(express.json())
  prepare(app)
  const origin = () => process.env.PEER_ORIGIN ?? ''
  app.get('/v1/passes/:id', async (request, response) => {
    const row = await readPass(plain(pool), tenantId, request.params.id)
    if (!row) response.status(404).json({ error: 'not found' })
    else response.json(showPass(row, origin(), Date.now()))
  })
  app.get('/v1/passes', async (request, response) => {
    const page = { limit: Number(request.query.limit ?? 25), order: 'desc', backward: false } as const
    const now = Date.now()
    const { rows, hasMore } = await listPasses(
      plain(pool),
      tenantId,
      { includeArchived: false, created: {} },
      page,
      now,
    )
    const data = rows.map((row) => showPass(row, origin(), now))
    response.json({ data, has_more: hasMore, next_cursor: null })
  })
  app.post('/v1/passes', async (request, response) => {
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      const now = Date.now()
      const key = String(request.headers['idempotency-key'])
      const row = await createPass(plain(client), request.body, key, now)
      const body = showPass(row, origin(), now)
      await appendAuditAndAnswer(
        plain(client),
        tenantId,
        {
          id: newId('aud', now),
          environment: 'sandbox',
          actorType: 'key',
          actorId: 'key',
          action: 'pass.created',
          targetId: row.id,
          outcome: 'succeeded',
          requestId: newId('req', now),
          ip: '127.0.0.1',
          version: '2026-05-19',
          created: now,
        },
        { key, fingerprint: Buffer.alloc(32), status: 201, body: JSON.stringify(body), head: '2026-05-19' },
      )
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
    void pool.end()
  })
}
