/** GET of a pass's file that has not changed, answered 304, beside GET /v1/passes/{id}: in turn, over the same connections. */
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { performance } from 'node:perf_hooks'
import type { DemoService } from './demo-service.ts'

const ROUNDS = 9
/** Of each, over all rounds, less than an address or a key may ask for at once. */
const REQUESTS = 200
const CONNECTIONS = 8
/** An unchanged file is to cost no more than the pass. */
const AIM = 1

export interface UnchangedFigures {
  /** Requests a second, medians. */
  readonly unchanged: number
  readonly pass: number
  /** Median of each round's quotient. */
  readonly quotient: number
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

export async function measureUnchanged({ call, origin, secret }: DemoService): Promise<UnchangedFigures> {
  const template = await call('/v1/pass_templates', {
    name: 'Coffee club',
    kind: 'loyalty',
    brand: { background_color: '#112233', foreground_color: '#ffffff' },
    fields: [{ key: 'points', label: 'Points', value: '0' }],
  })
  const { body: pass } = await call('/v1/passes', { template_id: template.body.id })
  const { headers } = await fetch(pass.download.apple_url)
  const have = { 'if-none-match': headers.get('etag')! }
  const key = { authorization: `Bearer ${secret}` }
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const ask = async (url: string, headers: Record<string, string>, status: number): Promise<void> => {
    const [response] = await once(request(url, { agent, headers }).end(), 'response')
    response.resume()
    await once(response, 'end')
    if (response.statusCode !== status) throw new Error(`${url}: ${response.statusCode}, not ${status}`)
  }
  const perSecond = async (...asked: Parameters<typeof ask>): Promise<number> => {
    const began = performance.now()
    const each = async () => {
      for (let count = 0; count < REQUESTS / CONNECTIONS; count += 1) await ask(...asked)
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, each))
    return (REQUESTS / (performance.now() - began)) * 1000
  }
  const [unchanged, passes]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    unchanged.push(await perSecond(pass.download.apple_url, have, 304))
    passes.push(await perSecond(`${origin}/v1/passes/${pass.id}`, key, 200))
  }
  agent.destroy()
  const quotients = unchanged.map((rate, round) => rate / passes[round]!)
  return { unchanged: median(unchanged), pass: median(passes), quotient: median(quotients) }
}

export function printUnchanged({ unchanged, pass, quotient }: UnchangedFigures): void {
  const line = (name: string, rate: number) =>
    console.log(`  ${name.padEnd(44)} ${rate.toFixed(0).padStart(8)} /s`)
  console.log(
    `an unchanged file, 304, beside GET of the pass (aim: ${AIM.toFixed(1)} ×): ${quotient.toFixed(2)} ×`,
  )
  line('GET /p/{token}.pkpass, If-None-Match', unchanged)
  line('GET /v1/passes/{id}', pass)
}
