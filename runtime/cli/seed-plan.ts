/** Plans a plausible history of an account. The plan follows from its options, so the same options give the same plan. */
import { createRandom, type Random } from '../platform/random.ts'

export interface SeedOptions {
  /** Number of months, of 30 days each. */
  readonly months: number
  readonly passes: number
  readonly cards: number
  readonly purchases: number
  /** Selects the names, amounts and order. */
  readonly seed: number
}

/** What the holder of a card does at a merchant, and what follows. Amounts are cents. */
export interface PlannedPurchase {
  readonly action: 'purchase'
  /** Place of the card in the order of issue, from 0. */
  readonly card: number
  readonly amount: number
  readonly merchant: { readonly name: string; readonly category_code: string; readonly city: string }
  readonly entry_method: 'contactless' | 'chip' | 'online'
  /** `abandoned`: the merchant never collects the amount, and the hold expires. */
  readonly end: 'cleared' | 'refunded' | 'reversed' | 'abandoned' | 'declined'
}

/** One step of a plan. Objects are referred to by their place in the order of creation, from 0. */
export type SeedStep =
  | {
      readonly action: 'template'
      readonly kind: 'loyalty' | 'coupon' | 'event_ticket'
      readonly name: string
    }
  | { readonly action: 'funding'; readonly amount: number }
  | { readonly action: 'passes'; readonly template: number; readonly holders: readonly string[] }
  | { readonly action: 'install'; readonly pass: number; readonly platform: 'apple' | 'google' }
  | { readonly action: 'scan'; readonly pass: number; readonly scanner: string }
  | { readonly action: 'cardholder'; readonly name: string; readonly email: string }
  | { readonly action: 'card'; readonly cardholder: number }
  | PlannedPurchase
  /** Advances the clock to a time, in seconds from the beginning. */
  | { readonly action: 'clock'; readonly until: number }

const DAYS_PER_MONTH = 30
const DAY_S = 86_400

/** A settlement is settled two hours after its cut-off. */
const LAST_SETTLEMENT_S = 3 * 3600

/** Maximum number of passes in one batch of the API. */
const PASSES_AT_ONCE = 100

/** Share of the days in which the cards are issued. */
const ISSUING_SHARE = 0.6

const TEMPLATES = [
  { kind: 'loyalty', name: 'Coffee club' },
  { kind: 'coupon', name: 'Free pastry' },
  { kind: 'event_ticket', name: 'Tasting evening' },
] as const

const FIRST_NAMES = [
  ...['Ada', 'Noor', 'Mateo', 'Ingrid', 'Kenji', 'Amara', 'Lucas', 'Freya', 'Omar', 'Yuki', 'Elena', 'Tomás'],
  ...['Priya', 'Jonas', 'Leila', 'Hugo', 'Mina', 'Callum', 'Sofia', 'Dmitri', 'Zara', 'Emil', 'Ruth', 'Kofi'],
] as const

const LAST_NAMES = [
  ...['Moreau', 'Haddad', 'Silva', 'Larsen', 'Tanaka', 'Okafor', 'Weber', 'Lindqvist', 'Farouk', 'Sato'],
  ...['Rossi', 'Vega', 'Nair', 'Keller', 'Amiri', 'Dubois', 'Park', 'Fraser', 'Costa', 'Ivanov', 'Mensah'],
] as const

type SeedMerchant = PlannedPurchase['merchant'] & { readonly least: number; readonly most: number }

/** Merchants, with the usual range of a purchase in cents. */
const MERCHANTS: readonly [SeedMerchant, ...SeedMerchant[]] = [
  { name: 'Harbor Diner', category_code: '5812', city: 'Oakland', least: 900, most: 6_500 },
  { name: 'Corner Grocery', category_code: '5411', city: 'Oakland', least: 1_200, most: 14_000 },
  { name: 'Bayline Fuel', category_code: '5541', city: 'Emeryville', least: 2_500, most: 9_000 },
  { name: 'Quay Hotel', category_code: '7011', city: 'San Francisco', least: 12_000, most: 48_000 },
  { name: 'Paper & Ink', category_code: '5943', city: 'Berkeley', least: 400, most: 7_500 },
  { name: 'Cloud Hosting Co', category_code: '7372', city: 'Seattle', least: 1_000, most: 30_000 },
  { name: 'Metro Transit', category_code: '4111', city: 'San Francisco', least: 250, most: 2_500 },
]

const SCANNERS = ['Entrance 1', 'Entrance 2', 'Till 1', 'Till 2'] as const

/** Of 20 purchases. */
const ENDS: readonly [PlannedPurchase['end'], ...PlannedPurchase['end'][]] = [
  'cleared',
  ...Array<'cleared'>(14).fill('cleared'),
  ...(['refunded', 'reversed', 'abandoned', 'declined', 'declined'] as const),
]

const nameOf = (random: Random) => `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`

/** Parts of a day. Passes and cards come at the first, purchases at both. */
const [NOON, EVENING] = [0.45, 0.8] as const

/** Yields the steps of the plan in order. The clock advances twice a day if there are purchases. */
export function* planSeed(options: SeedOptions): Generator<SeedStep> {
  const random = createRandom(`svc seed ${options.seed}`)
  const days = options.months * DAYS_PER_MONTH
  /** Returns how many of `total` are done at the end of a day, if they are spread evenly over `over` days. */
  const doneBy = (day: number, total: number, over = days) =>
    Math.min(total, Math.floor(((day + 1) * total) / over))
  const issuingDays = Math.max(1, Math.ceil(days * ISSUING_SHARE))
  const at = (day: number): SeedStep => ({ action: 'clock', until: Math.round(day * DAY_S) })
  yield at(0)
  for (const template of TEMPLATES) yield { action: 'template', ...template }
  for (let day = 0, [passes, cards, bought] = [0, 0, 0]; day < days; day += 1) {
    const [allPasses, allCards] = [doneBy(day, options.passes), doneBy(day, options.cards, issuingDays)]
    yield at(day + NOON)
    while (passes < allPasses) {
      const count = Math.min(allPasses - passes, PASSES_AT_ONCE)
      const holders = Array.from({ length: count }, () => nameOf(random))
      yield { action: 'passes', template: random.between(0, TEMPLATES.length - 1), holders }
      passes += count
      yield* planHolders(random, passes, count)
    }
    for (; cards < allCards; cards += 1) {
      if (cards % 2 === 0) yield planCardholder(random, cards / 2)
      yield { action: 'card', cardholder: Math.floor(cards / 2) }
    }
    if (cards > 0) {
      const count = doneBy(day, options.purchases) - bought
      bought += count
      const purchases = Array.from({ length: count }, () => planPurchase(random, cards))
      const amount = purchases.reduce((sum, purchase) => sum + purchase.amount, 0)
      if (amount > 0) yield { action: 'funding', amount }
      for (const [place, purchase] of purchases.entries()) {
        if (place === Math.floor(count / 2)) yield at(day + EVENING)
        yield purchase
      }
    }
    if ((day + 1) % DAYS_PER_MONTH === 0) yield at(day + 1)
  }
  yield at(days + LAST_SETTLEMENT_S / DAY_S)
}

/** What the holders of all `passes` do after `count` more passes: one in 20 installs a pass, one in 10 is scanned. */
function* planHolders(random: Random, passes: number, count: number): Generator<SeedStep> {
  for (let each = 0; each < count; each += 1) {
    const pass = random.between(0, passes - 1)
    if (random.chance(0.05))
      yield { action: 'install', pass, platform: random.chance(0.6) ? 'apple' : 'google' }
    if (random.chance(0.1)) yield { action: 'scan', pass, scanner: random.pick(SCANNERS) }
  }
}

function planCardholder(random: Random, place: number): SeedStep {
  const name = nameOf(random)
  return { action: 'cardholder', name, email: `holder-${place + 1}@example.com` }
}

function planPurchase(random: Random, cards: number): PlannedPurchase {
  const { least, most, ...merchant } = random.pick(MERCHANTS)
  return {
    action: 'purchase',
    card: random.between(0, cards - 1),
    amount: random.between(least, most),
    merchant,
    entry_method: random.pick(['contactless', 'contactless', 'chip', 'online']),
    end: random.pick(ENDS),
  }
}
