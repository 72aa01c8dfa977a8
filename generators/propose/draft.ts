/** A lens in the making, what it may name, and the one for what no other carries. */

import type { Naming } from '../change/align.ts'
import { type Difference, formatLocation } from '../diff/difference.ts'
import { literal, stringLiteral } from '../print/literal.ts'

/** A lens in the making: several differences may want the same one. */
export interface LensDraft {
  readonly verb: string
  readonly noun: string
  /** Drafts of one key become one lens. */
  readonly key: string
  print(all: readonly Difference[]): string
  naming?(all: readonly Difference[]): Naming
}

/** What lenses can name: the types of both versions have it. */
export interface Nameable {
  readonly schemas: ReadonlySet<string>
  readonly operations: ReadonlySet<string>
  /** Query parameters that compare by equality: `listThings colour`. */
  readonly filters: ReadonlySet<string>
  /** Whether translations get to an object that is written out at a place. */
  isSite(place: string): boolean
}

export const quote = stringLiteral

/** What an old request means by leaving something out: its old default, where that is known. */
export const meaningOf = ({ code, value }: Difference): string =>
  code.startsWith('default-') && value !== undefined ? literal(value) : '…'

/** No lens translates it: whoever publishes the version says that it is meant. */
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
