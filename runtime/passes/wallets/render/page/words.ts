import type { PassState } from '../pass-state.ts'

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

/** Formats a time for readers in any time zone, so it names the zone. */
export function showInstant(ms: number): string {
  return `${DATE.format(ms)} UTC`
}

/** Returns the notice for a void pass; undefined for other passes. */
export function stateWords(state: PassState): { readonly title: string; readonly text: string } | undefined {
  const { status, organization, expiresAt } = state
  switch (status) {
    case 'redeemed':
      return { title: 'Already used', text: 'This pass has been redeemed. It cannot be used again.' }
    case 'revoked':
      return { title: 'No longer valid', text: `${organization} has withdrawn this pass. It cannot be used.` }
    case 'expired': {
      const until = expiresAt === null ? '' : ` It was valid until ${showInstant(expiresAt)}.`
      return { title: 'Expired', text: `This pass has expired.${until} It can no longer be used.` }
    }
    default:
      return undefined
  }
}
