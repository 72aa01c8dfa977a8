/** Expiry of cards. */
const YEARS = 4

/** Returns the expiry of a card issued at `now`: the same month four years later, in UTC. */
export function expiryOf(now: number): { readonly exp_month: number; readonly exp_year: number } {
  const issued = new Date(now)
  return { exp_month: issued.getUTCMonth() + 1, exp_year: issued.getUTCFullYear() + YEARS }
}

/** Returns whether the card's expiry month is over, in UTC. */
export function isExpired(
  { exp_month, exp_year }: { readonly exp_month: number; readonly exp_year: number },
  now: number,
): boolean {
  return now >= Date.UTC(exp_year, exp_month)
}
