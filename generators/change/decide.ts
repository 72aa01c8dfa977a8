/** Holes in changes: what the author still has to decide. */

/** `Symbol.for`, because a loader can give the change another instance of this module than the gate has. */
const UNDECIDED = Symbol.for('dateline.undecided')
const LOADS = Symbol.for('dateline.loads')

/** The number of changes that are being loaded now. */
const loads = globalThis as typeof globalThis & { [LOADS]?: number }

/** What must be decided, and where. The line is 0 if the platform does not tell it. */
export interface Hole {
  readonly what: string
  readonly file: string
  readonly line: number
  readonly column: number
}

/**
 * Marks a value or a function that the author of a change must still write. It fits every type. While the change is loaded, the
 * gate lists all its holes as errors with their lines. In a program that runs anyway, the call throws.
 *
 * @param what the question, for the author: `what the old version shows instead of null`.
 * @throws Error if no command loads the change.
 * @example v.nullable(['Book'], 'subtitle', decide('what the old version shows instead of null'))
 */
export function decide(what: string): never {
  const error = new Error()
  const hole: Hole = { what, ...callerOf(error.stack ?? '') }
  error.message = `${hole.file}:${hole.line}: undecided: ${what}. Replace decide(…) with a value or a function.`
  if (!loads[LOADS]) throw error
  const stand = () => {
    throw error
  }
  // No code may use the value: the gate refuses the change.
  return Object.assign(stand, { [UNDECIDED]: hole }) as never
}

/** Reads the second frame of a stack: the first is `decide`. */
function callerOf(stack: string): Omit<Hole, 'what'> {
  const frames = stack.split('\n').filter((line) => /:\d+:\d+\)?$/.test(line))
  const [, file = '', line = 0, column = 0] = /([^\s(@]+):(\d+):(\d+)\)?$/.exec(frames[1] ?? '') ?? []
  return {
    file: file.replace(/^file:\/\//, '').replace(/\?.*$/, ''),
    line: Number(line),
    column: Number(column),
  }
}

/** Runs work that loads a change, so that holes become values instead of errors. */
export async function withHoles<Result>(work: () => Promise<Result>): Promise<Result> {
  loads[LOADS] = (loads[LOADS] ?? 0) + 1
  try {
    return await work()
  } finally {
    loads[LOADS] -= 1
  }
}

/** Returns all holes in a value, in the order of its members. */
export function holesIn(value: unknown): Hole[] {
  if (typeof value === 'function')
    return UNDECIDED in value ? [(value as { readonly [UNDECIDED]: Hole })[UNDECIDED]] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(holesIn) : []
}
