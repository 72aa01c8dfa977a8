import type { PassState } from '../pass-state.ts'
import type { Voice } from './voice.ts'

/** Returns the notice for a void pass; undefined for other passes. */
export function stateWords(
  state: PassState,
  voice: Voice,
): { readonly title: string; readonly text: string } | undefined {
  const { status, organization, expiresAt } = state
  switch (status) {
    case 'redeemed':
      return { title: voice.say('redeemed'), text: voice.say('redeemedText') }
    case 'revoked':
      return { title: voice.say('revoked'), text: voice.say('revokedText', { organization }) }
    case 'expired': {
      const text =
        expiresAt === null
          ? voice.say('expiredText')
          : voice.say('expiredAtText', { time: voice.showInstant(expiresAt) })
      return { title: voice.say('expired'), text }
    }
    default:
      return undefined
  }
}
