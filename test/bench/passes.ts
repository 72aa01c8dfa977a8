/**
 * `npm run bench:passes`: passes in wallets. Each table is a file of its own beside this one.
 *
 *   builds      files for Apple Wallet a second, beside passkit-generator; memory over 10,000 of them
 *   unchanged   GET of a file that has not changed, beside GET of one pass
 *   batches     a batch of 100 beside 100 requests
 *
 * Options: --only NAME (of tables whose name holds it), --batch N (100, passes of a batch), --rounds N (4, of batches).
 */
import { parseArgs } from 'node:util'
import { type DemoService, startDemoService } from './demo-service.ts'
import { measureBatches, printBatches } from './passes-batches.ts'
import { measureBuilds, printBuilds } from './passes-builds.ts'
import { measureUnchanged, printUnchanged } from './passes-unchanged.ts'
import { type Scratch, withScratch } from './scratch.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    batch: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '4' },
  },
})
const batches = { size: Number(options.batch), rounds: Number(options.rounds) }

interface Bench {
  readonly scratch: Scratch
  /** Started by the first table that asks for it. */
  readonly service: () => Promise<DemoService>
}

const TABLES: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  builds: async ({ scratch }) => printBuilds(await measureBuilds(scratch.directory)),
  unchanged: async ({ service }) => printUnchanged(await measureUnchanged(await service())),
  batches: async ({ service }) =>
    printBatches(batches, await measureBatches((await service()).call, batches)),
}

await withScratch(async (scratch) => {
  let started: Promise<DemoService> | undefined
  const service = () => {
    started ??= startDemoService(scratch)
    return started
  }
  for (const [name, run] of Object.entries(TABLES)) {
    if (name.includes(options.only)) await run({ scratch, service })
  }
})
