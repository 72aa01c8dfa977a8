/**
 * The operations of the bench behind Fastify 5 and postgres.js, set up for speed: prepared statements, pipelined within
 * and between requests, serializers compiled from the schema.
 */
import Fastify from 'fastify'
import postgres from 'postgres'
import type { Database, Statement } from '../../runtime/database/database.ts'
import { parseTimestamp } from '../../runtime/database/types.ts'
import { getPass, getPasses, origin, type PassOrder, postPass, signPass } from './peer-operations.ts'

const asIs = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

// The statements bind JSON and instants as texts, and read instants as milliseconds.
const sql = postgres(process.env.DATABASE_URL ?? '', {
  max: 10,
  prepare: true,
  connection: { search_path: 'sandbox' },
  types: {
    json: { to: 114, from: [114, 3802], serialize: asIs, parse: (text: string) => JSON.parse(text) },
    instant: { to: 1184, from: [1184], serialize: asIs, parse: parseTimestamp },
    bigint: { to: 20, from: [20], serialize: String, parse: Number },
  },
})

function prepared(client: postgres.Sql | postgres.TransactionSql): Database {
  return {
    async query<Row>(statement: Statement, values: readonly unknown[] = []) {
      const result = await client.unsafe(statement.text, values as never[], { prepare: true })
      return { rows: result as unknown as Row[], count: result.count }
    },
  }
}

const text = { type: 'string' } as const
const instant = { type: 'string', nullable: true } as const
const texts = { type: 'object', additionalProperties: text } as const
const PASS = {
  type: 'object',
  properties: {
    id: text,
    object: text,
    template_id: text,
    status: text,
    holder: { type: 'object', properties: { email: instant, name: instant } },
    fields: texts,
    download: { type: 'object', properties: { apple_url: text, google_url: text, page_url: text } },
    platforms: { type: 'array', items: text },
    expires_at: instant,
    installed_at: instant,
    revoked_at: instant,
    archived_at: instant,
    metadata: texts,
    created: text,
    updated: text,
  },
} as const
const PASSES = {
  type: 'object',
  properties: {
    data: { type: 'array', items: PASS },
    has_more: { type: 'boolean' },
    next_cursor: instant,
  },
} as const

const app = Fastify()

app.get<{ Params: { id: string } }>(
  '/v1/passes/:id',
  { schema: { response: { 200: PASS } } },
  async (request, reply) => {
    const pass = await getPass(prepared(sql), request.params.id)
    return pass ?? reply.code(404).send({ error: 'not found' })
  },
)

app.get<{ Querystring: { limit?: string } }>(
  '/v1/passes',
  { schema: { response: { 200: PASSES } } },
  async (request) => getPasses(prepared(sql), Number(request.query.limit ?? 25)),
)

app.post<{ Body: PassOrder }>(
  '/v1/passes',
  { schema: { response: { 201: PASS } } },
  async (request, reply) => {
    const key = String(request.headers['idempotency-key'])
    const signed = await signPass(request.body)
    const body = await sql.begin((transaction) => postPass(prepared(transaction), request.body, signed, key))
    return reply.code(201).send(body)
  },
)

process.env.PEER_ORIGIN = await app.listen({ port: 0, host: '127.0.0.1' })
console.log(origin())
process.once('SIGTERM', () => {
  app
    .close()
    .then(() => sql.end())
    .catch(console.error)
})
