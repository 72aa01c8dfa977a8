/** How checks fail. */

export function fail(what: string): never {
  throw new Error(what)
}

/** Fails unless both values are the same JSON, with the keys in any order. */
export function mustEqual(found: unknown, wanted: unknown, what: string): void {
  const [one, other] = [sorted(found), sorted(wanted)]
  if (one !== other) fail(`${what} is ${one}, not ${other}`)
}

const sorted = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
