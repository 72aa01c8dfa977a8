/** Reads dates of birth from sanctions lists and compares them with a cardholder's. */

/** Both ends are inclusive; for example `1960-04-12`. */
export interface DateRange {
  readonly from: string
  readonly to: string
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Matches `DOB 12 Apr 1960`, `alt. DOB Apr 1960`, `DOB circa 1960` and `DOB 1960 to 1962`. */
const BIRTH = /\bDOB (circa |approximately )?([^;.]+?)(?: to ([^;.]+?))?(?=[;.]|$)/g

/** Tolerance of an approximate date, in years in both directions. */
const ABOUT_YEARS = 2

/** Reads the dates of birth in the remarks of an entry. Skips text that is not a date. */
export function readBirths(remarks: string): DateRange[] {
  return [...remarks.matchAll(BIRTH)].flatMap(([, about, first, last]) => {
    const from = readDate(first!)
    const to = last === undefined ? from : readDate(last)
    if (!from || !to) return []
    const slack = about === undefined ? 0 : ABOUT_YEARS
    return [{ from: shiftYears(from.from, -slack), to: shiftYears(to.to, slack) }]
  })
}

function readDate(text: string): DateRange | undefined {
  const [, day, name, year] = /^(?:(\d{1,2}) )?(?:([A-Z][a-z]{2}) )?(\d{4})$/.exec(text.trim()) ?? []
  if (year === undefined) return undefined
  if (name === undefined) return { from: `${year}-01-01`, to: `${year}-12-31` }
  const month = String(MONTHS.indexOf(name) + 1).padStart(2, '0')
  if (month === '00') return undefined
  if (day === undefined) return { from: `${year}-${month}-01`, to: `${year}-${month}-31` }
  const date = `${year}-${month}-${day.padStart(2, '0')}`
  return { from: date, to: date }
}

const shiftYears = (date: string, years: number) =>
  `${String(Number(date.slice(0, 4)) + years).padStart(4, '0')}${date.slice(4)}`

/**
 * `same`: the same day. `near`: the known parts agree. `unknown`: no evidence either way. `other`: the dates contradict each
 * other.
 */
export type BirthEvidence = 'same' | 'near' | 'unknown' | 'other'

/** Compares a date of birth with those of an entry and returns the strongest evidence for a match. */
export function compareBirths(date: string | null, births: readonly DateRange[]): BirthEvidence {
  if (date === null || births.length === 0) return 'unknown'
  const all = births.map((range) => compareBirth(date, range))
  return (['same', 'near', 'unknown'] as const).find((evidence) => all.includes(evidence)) ?? 'other'
}

function compareBirth(date: string, { from, to }: DateRange): BirthEvidence {
  if (from === to && date === from) return 'same'
  if (date >= from && date <= to) return 'near'
  // Day and month are often swapped.
  if (from === to && from === `${date.slice(0, 5)}${date.slice(8)}-${date.slice(5, 7)}`) return 'near'
  return date >= shiftYears(from, -1) && date <= shiftYears(to, 1) ? 'unknown' : 'other'
}
