import { distance } from 'fastest-levenshtein'

/** Longer words are no slip of the pen, and comparing them costs. */
const MAX_LENGTH = 64

/** Of so many letters one may be wrong. */
const LETTERS_PER_SLIP = 3
const MAX_SLIPS = 3

/**
 * The known name that a word was probably meant to be: the same in another spelling (`templateId`, `template-id`), or a few
 * letters away (Levenshtein). The first of several that are as near. Undefined where none is near.
 */
export function findNearest(word: string, known: Iterable<string>): string | undefined {
  if (word.length > MAX_LENGTH) return undefined
  const plain = simplify(word)
  let nearest: string | undefined
  let least = Math.min(MAX_SLIPS, Math.floor(plain.length / LETTERS_PER_SLIP)) + 1
  for (const name of known) {
    const slips = distance(plain, simplify(name))
    if (slips >= least) continue
    nearest = name
    least = slips
  }
  return nearest
}

const simplify = (word: string) => word.toLowerCase().replaceAll(/[\s_-]/g, '')
