/** Drafts of lenses, what they can name, and the fallback for differences that no other lens covers. */

import type { Naming } from '../change/align.ts'
import { type Difference, formatLocation } from '../diff/difference.ts'
import { literal, stringLiteral } from '../print/literal.ts'

/** A draft of a lens. Several differences may lead to the same lens. */
export interface LensDraft {
  readonly verb: string
  readonly noun: string
  /** Drafts with the same key are merged into one lens. */
  readonly key: string
  print(all: readonly Difference[]): string
  naming?(all: readonly Difference[]): Naming
}

/** The declarations that lenses can name, because the types of both versions have them. */
export interface Nameable {
  readonly schemas: ReadonlySet<string>
  readonly operations: ReadonlySet<string>
  /** Query parameters that compare by equality: `listThings color`. */
  readonly filters: ReadonlySet<string>
  /** Whether translations reach the inline object at a location. */
  isSite(place: string): boolean
  /** Whether the new types of an object still have a property, in a member of a union. */
  isInMember(place: string, property: string): boolean
  /** Whether a value fits the schema at a pointer in the new document. */
  fits(value: unknown, pointer: string): boolean
}

export const quote = stringLiteral

/** Returns the source text of a hole, see `decide`. */
export const hole = (what: string): string => `decide(${quote(what)})`

/**
 * Returns the old default, which is what an old request means by omitting the value, or a hole if it is unknown or the new version
 * refuses it.
 */
export const meaningOf = ({ code, value, new: at }: Difference, nameable?: Nameable): string =>
  code.startsWith('default-') && value !== undefined && (!at || nameable?.fits(value, at.pointer) !== false)
    ? literal(value)
    : hole('what an old request means by omitting the value')

/**
 * Returns a draft that accepts a difference: no lens can translate it, so the author confirms that it is intended.
 */
export function acceptDraft(difference: Difference): LensDraft {
  const { code } = difference
  return {
    verb: 'accept',
    noun: code,
    key: `accept ${code}`,
    print: (all) =>
      `v.accept(${[code, ...new Set(all.map((each) => formatLocation(each.at)))].map(quote).join(', ')})`,
  }
}
