/** A change of a template that 100,000 passes on as many devices are of: how long its answer takes, and how long workers need for it. */
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import type { DemoService } from './demo-service.ts'

const PASSES = 100_000
/** Changes of each of the two templates, in turn. */
const CHANGES = 15
const LOOK_MS = 250

export interface FanOutFigures {
  /** Milliseconds to the answer, medians: of a template without passes, and of the one with all. */
  readonly without: number
  readonly with: number
  /** Seconds from the last answer until nobody is to be told any more. */
  readonly seconds: number
  /** Resident mebibytes of the service: before it, and the most meanwhile. */
  readonly memory: readonly [before: number, most: number]
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

// As if each had been issued, opened by its holder and registered by a device of its own.
const FILL = [
  `INSERT INTO sandbox.passes (tenant_id, id, template_id, status, platforms, fields, page_token, metadata, created, updated)
   SELECT t.tenant_id, 'pass_' || lpad(n::text, 26, '0'), t.id, 'installed', '{apple}', '{}', 'token', '{}', t.created, t.created
     FROM sandbox.pass_templates t, generate_series(1, $2::integer) n WHERE t.id = $1`,
  `INSERT INTO sandbox.apple_registrations (tenant_id, device_id, pass_id, template_id, push_token, changed, registered_at)
   SELECT p.tenant_id, md5(p.id), p.id, p.template_id, md5(p.id) || md5(p.id), 0, p.created
     FROM sandbox.passes p WHERE p.template_id = $1`,
  'INSERT INTO sandbox.wallet_heads SELECT tenant_id, 0 FROM sandbox.pass_templates WHERE id = $1 ON CONFLICT DO NOTHING',
]

const residentMebibytes = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024

export async function measureFanOut({ url, call, origin, secret, pid }: DemoService): Promise<FanOutFigures> {
  const make = async (): Promise<string> => {
    const brand = { background_color: '#112233', foreground_color: '#ffffff' }
    return (await call('/v1/pass_templates', { name: 'Coffee club', kind: 'loyalty', brand })).body.id
  }
  const [small, large] = [await make(), await make()]
  const change = async (template: string, name: string): Promise<number> => {
    const began = performance.now()
    const response = await fetch(`${origin}/v1/pass_templates/${template}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`PATCH: ${response.status}`)
    return performance.now() - began
  }
  const db = new pg.Client({ connectionString: url })
  await db.connect()
  try {
    for (const text of FILL) await db.query(text, text.includes('$2') ? [large, PASSES] : [large])
    const before = residentMebibytes(pid)
    const [without, many]: [number[], number[]] = [[], []]
    for (let count = 0; count < CHANGES; count += 1) {
      without.push(await change(small, `Club ${count}`))
      many.push(await change(large, `Club ${count}`))
    }
    const began = performance.now()
    let most = before
    const left = async () => {
      most = Math.max(most, residentMebibytes(pid))
      const { rows } = await db.query(
        `SELECT EXISTS (SELECT FROM sandbox.wallet_changes) OR EXISTS (SELECT FROM sandbox.wallet_updates) AS any`,
      )
      return rows[0].any
    }
    while (await left()) await wait(LOOK_MS)
    const seconds = (performance.now() - began) / 1000
    const { rows } = await db.query(
      'SELECT count(*)::integer AS n FROM sandbox.apple_registrations WHERE template_id = $1 AND changed = 0',
      [large],
    )
    if (rows[0].n > 0) throw new Error(`${rows[0].n} devices were not told`)
    return { without: median(without), with: median(many), seconds, memory: [before, most] }
  } finally {
    await db.end()
  }
}

export function printFanOut({ without, with: many, seconds, memory }: FanOutFigures): void {
  const line = (name: string, figure: string) => console.log(`  ${name.padEnd(44)} ${figure}`)
  console.log(`a change of a template of ${PASSES} passes on devices (aim: answered as one without passes):`)
  line('PATCH, without passes', `${without.toFixed(1)} ms`)
  line('PATCH, with all of them', `${many.toFixed(1)} ms  ${(many / without).toFixed(2)} ×`)
  line('until every device is told', `${seconds.toFixed(1)} s  ${(PASSES / seconds).toFixed(0)} rows/s`)
  line('memory of the service, MiB', memory.map((size) => size.toFixed(0)).join(' → '))
}
