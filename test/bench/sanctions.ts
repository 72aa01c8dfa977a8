/**
 * How many cardholders a second are held against a list of 20,000 names: by the index alone, by a worker that reads and writes
 * them, and where every name is compared with every other.
 *
 * `npm run bench:sanctions`. Options: --listed N (20000), --cardholders N (100000), --compared N (40, of them with every name).
 */
import { parseArgs } from 'node:util'
import { createMatcher, type Subject } from '../../runtime/cards/sanctions/matcher.ts'
import { readOfac } from '../../runtime/cards/sanctions/ofac.ts'
import { runWorker } from './sanctions-worker.ts'
import { withScratch } from './scratch.ts'

const { values: options } = parseArgs({
  options: {
    listed: { type: 'string', default: '20000' },
    cardholders: { type: 'string', default: '100000' },
    compared: { type: 'string', default: '40' },
  },
})
const [LISTED, CARDHOLDERS] = [Number(options.listed), Number(options.cardholders)]
/** Compared with everything; more would take minutes. */
const NAIVE = Number(options.compared)

/** The same numbers in each run (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const random = createRandom(1)
/** The front of a list is taken more often, as common names are. */
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() ** 2 * from.length)]!

const SYLLABLES =
  'al an ar ba bek chi da di dmi el en far ga ghe ha ib iv ja ka khal ko la len lu ma mi mo na ni nov ol pa pe qa ra ri ro sa ser sha si ta tov ul va vi vla ya yu za zhu'.split(
    ' ',
  )
const word = (syllables: number) => Array.from({ length: syllables }, () => pick(SYLLABLES)).join('')
const vocabulary = (size: number, syllables: number) => [
  ...new Set(Array.from({ length: size }, () => word(syllables + Math.round(random())))),
]

const GIVEN = [
  'mohammed',
  'ahmed',
  'ali',
  'hassan',
  'hussein',
  'ivan',
  'sergei',
  'maria',
  ...vocabulary(1500, 2),
]
const FAMILY = vocabulary(12_000, 3)

const person = () => ({
  family: pick(FAMILY),
  given: pick(GIVEN),
  middle: random() < 0.5 ? ` ${pick(GIVEN)}` : '',
})
const year = () => 1940 + Math.floor(random() * 60)

function makeList(): string {
  return Array.from({ length: LISTED }, (_, index) => {
    const { family, given, middle } = person()
    const born = random() < 0.7 ? `DOB 12 Apr ${year()}.` : '-0-'
    return `${index + 1},"${family.toUpperCase()}, ${given}${middle}",individual,"T",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,"${born}"`
  }).join('\r\n')
}

function makeCardholders(): Subject[] {
  return Array.from({ length: CARDHOLDERS }, () => {
    const { family, given, middle } = person()
    return {
      type: 'individual',
      name: `${given}${middle} ${family}`,
      date_of_birth: random() < 0.8 ? `${year()}-04-12` : null,
      billing_address: null,
    }
  })
}

/** Of the clock and of the processor: on a busy machine they differ. */
interface Seconds {
  readonly clock: number
  readonly processor: number
}

async function measure<T>(work: () => T | Promise<T>): Promise<readonly [T, Seconds]> {
  const began = performance.now()
  const used = process.cpuUsage()
  const result = await work()
  const { user, system } = process.cpuUsage(used)
  return [result, { clock: (performance.now() - began) / 1000, processor: (user + system) / 1e6 }]
}

const rates = (count: number, { clock, processor }: Seconds) => ({
  cardholders: count,
  'per second': Math.round((count / clock) * 10) / 10,
  'per second of processor': Math.round((count / processor) * 10) / 10,
})

const entries = await readOfac({ sdn: makeList(), alt: '', add: '' })
const cardholders = makeCardholders()
const heap = process.memoryUsage().heapUsed
const [matcher, building] = await measure(() => createMatcher(entries))
const [hits, indexed] = await measure(
  () => cardholders.filter((subject) => matcher.match(subject).length > 0).length,
)
const megabytes = (process.memoryUsage().heapUsed - heap) / 2 ** 20
const few = cardholders.slice(0, NAIVE)
const naive = await createMatcher(entries, false)
const [compared, slowly] = await measure(() => few.map((subject) => naive.match(subject)))
const same = few.filter(
  (subject, at) => JSON.stringify(matcher.match(subject)) === JSON.stringify(compared[at]),
)

console.log(`list: ${LISTED} names, ${FAMILY.length} family names`)
console.log(`index: built in ${building.processor.toFixed(1)} s of processor, ${Math.round(megabytes)} MiB`)
const found = compared.filter((matches) => matches.length > 0).length
console.log(`${same.length} of ${NAIVE} get the same answer both ways`)
await withScratch(async (scratch) => {
  const [, worked] = await runWorker(scratch, matcher, cardholders, measure)
  console.table([
    { way: 'with the index', ...rates(CARDHOLDERS, indexed), hits },
    { way: 'a worker, with its database', ...rates(CARDHOLDERS, worked) },
    { way: 'each with each', ...rates(NAIVE, slowly), hits: found },
  ])
})
