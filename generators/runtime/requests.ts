/** Translates the parts of a request together, because a value moves from one part to another. */
import type { RequestParts, Translate } from './contract.ts'
import { touched } from './touched.ts'

/** A part of a request, and the name of a value in it. */
export type RequestLocation = readonly [part: keyof RequestParts, name: string]

/** The translation between two versions. */
export interface RequestStage {
  /** Functions of the parts. */
  readonly path?: Translate
  readonly query?: Translate
  readonly headers?: Translate
  readonly body?: Translate
  readonly moves: readonly {
    readonly from: RequestLocation
    readonly to: RequestLocation
    /** The change that moves the value: `2026-05-19/reason-in-header`. */
    readonly change: string
    readonly up?: Translate
  }[]
  /** The translation from the next version on. */
  readonly then?: (parts: RequestParts) => RequestParts
}

/** Returns a function that takes the moved values out, translates each part, and then puts the values at their targets. */
export const translateRequest =
  ({ moves, then, ...translate }: RequestStage) =>
  (given: RequestParts): RequestParts => {
    const taken = moves.map(({ from: [part, name] }) => membersOf(given[part])?.[name])
    const rest = moves.reduce((parts, { from }) => without(parts, from), given)
    const translated: RequestParts = {
      path: turn(translate.path, rest.path),
      query: turn(translate.query, rest.query),
      headers: turn(translate.headers, rest.headers),
      body: rest.body === undefined ? undefined : turn(translate.body, rest.body),
    }
    let moved = translated
    for (const [
      index,
      {
        to: [part, name],
        change,
        up,
      },
    ] of moves.entries()) {
      const value = taken[index]
      if (value === undefined) continue
      moved = { ...moved, [part]: { ...membersOf(moved[part]), [name]: touched(change, turn(up, value)) } }
    }
    return then ? then(moved) : moved
  }

type Members = Readonly<Record<string, unknown>>

const membersOf = (value: unknown): Members | undefined =>
  typeof value === 'object' && value !== null ? (value as Members) : undefined

// The stage pairs functions with values; the types do not.
const turn = <Value>(translate: Translate | undefined, value: Value): Value =>
  translate ? (translate(value as never) as Value) : value

function without(parts: RequestParts, [part, name]: RequestLocation): RequestParts {
  const { [name]: _moved, ...rest } = membersOf(parts[part]) ?? {}
  return membersOf(parts[part]) ? { ...parts, [part]: rest } : parts
}
