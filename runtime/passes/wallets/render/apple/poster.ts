/** The poster layouts of Apple Wallet. Phones that do not know them, or lack something for them, show the classic layout. */
import type { PassKind, PassState } from '../pass-state.ts'

/** `posterEventTicket` is a preferred style scheme from iOS 18, `posterGeneric` a style next to the classic one from iOS 27. */
export type PosterStyle = 'posterEventTicket' | 'posterGeneric'

/** Returns the poster layout of a pass; undefined if the template has none, or Apple has none for its kind. */
export function posterOf({ kind, options }: Pick<PassState, 'kind' | 'options'>): PosterStyle | undefined {
  return options?.apple_poster && POSTERS[kind]
}

const POSTERS: Readonly<Record<PassKind, PosterStyle | undefined>> = {
  loyalty: 'posterGeneric',
  gift_card: 'posterGeneric',
  coupon: 'posterGeneric',
  generic: 'posterGeneric',
  event_ticket: 'posterEventTicket',
  boarding_pass: undefined,
}

/** Semantic tags without which Apple Wallet shows no poster (Apple, "Creating a poster event pass using semantic tags"). */
const REQUIRED_TAGS = ['eventName', 'venueName', 'venueRegionName', 'venueRoom'] as const

const TAGS_OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  PKEventTypeSports: ['homeTeamAbbreviation', 'awayTeamAbbreviation'],
  PKEventTypeLivePerformance: ['performerNames'],
}

/** Returns the semantic tags that a poster event ticket lacks. */
export function missingTags(semantics: Readonly<Record<string, string>> = {}): string[] {
  const { eventType = '' } = semantics
  return [...REQUIRED_TAGS, ...(TAGS_OF_TYPE[eventType] ?? [])].filter((name) => !semantics[name])
}
