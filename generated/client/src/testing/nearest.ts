import { distance } from 'fastest-levenshtein'

/** Longer words are probably not typos, and comparing them is expensive. */
const MAX_LENGTH = 64

/** One typo is allowed for each three letters. */
const LETTERS_PER_SLIP = 3
const MAX_SLIPS = 3

/**
 * Finds the known name that a misspelled word probably means. Spelling variants such as `templateId` and `template-id`
 * are equal; otherwise the names may differ by a few letters (Levenshtein distance). Returns the first of equally near
 * names, and undefined if none is near.
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
