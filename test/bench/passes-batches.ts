/**
 * What a batch of passes costs beside as many requests for one each. The same service, in turn, so that whatever else the machine does costs both.
 */
import { performance } from 'node:perf_hooks'
import type { Call } from './demo-service.ts'

/** What is aimed at, at least. */
const AIM = 1 / 10

export interface BatchFigures {
  /** Milliseconds for all passes, medians: one after the other, ten at a time, in one batch. */
  readonly singly: number
  readonly tenAtOnce: number
  readonly batch: number
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1]!

async function time(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** How much is measured. */
export interface BatchSizes {
  /** Passes of a batch: a multiple of ten. */
  readonly size: number
  readonly rounds: number
}

/** Ten at a time are as many as a tenant has under way where the database is the bound. */
async function tenAtATime(size: number, create: () => Promise<unknown>): Promise<void> {
  const each = async () => {
    for (let made = 0; made < size / 10; made += 1) await create()
  }
  await Promise.all(Array.from({ length: 10 }, each))
}

export async function measureBatches(call: Call, { size, rounds }: BatchSizes): Promise<BatchFigures> {
  const template = await call('/v1/pass_templates', {
    name: 'Coffee club',
    kind: 'loyalty',
    brand: { background_color: '#112233', foreground_color: '#ffffff' },
    fields: [{ key: 'points', label: 'Points', value: '0' }],
  })
  const pass = { template_id: template.body.id, holder: { name: 'Ada' }, fields: { points: '12' } }
  const create = () => call('/v1/passes', pass)
  const createMany = async () => {
    const { body } = await call('/v1/passes/batch', { passes: Array(size).fill(pass) })
    const failed = body.results.find((each: { status: string }) => each.status !== 'succeeded')
    if (failed) throw new Error(JSON.stringify(failed))
  }
  await tenAtATime(size, create)
  await createMany()
  const [singly, tenAtOnce, batch]: number[][] = [[], [], []]
  for (let round = 0; round < rounds; round += 1) {
    singly!.push(
      await time(async () => {
        for (let made = 0; made < size; made += 1) await create()
      }),
    )
    batch!.push(await time(createMany))
    tenAtOnce!.push(await time(() => tenAtATime(size, create)))
    batch!.push(await time(createMany))
  }
  return { singly: median(singly!), tenAtOnce: median(tenAtOnce!), batch: median(batch!) }
}

export function printBatches({ size }: BatchSizes, { singly, tenAtOnce, batch }: BatchFigures): void {
  const line = (name: string, ms: number) =>
    console.log(
      `  ${name.padEnd(44)} ${ms.toFixed(0).padStart(8)} ms  ${(ms / batch).toFixed(1).padStart(6)} ×`,
    )
  console.log(`${size} passes (aim: a batch costs 1/${1 / AIM} of single requests):`)
  line('single requests, one after the other', singly)
  line('single requests, ten at a time', tenAtOnce)
  line('one batch', batch)
}
