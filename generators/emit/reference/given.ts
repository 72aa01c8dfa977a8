/**
 * Values that a sample reads when it runs: a new UUID for each request, and shell variables that the reader sets.
 * Until a language prints them, they are placeholders with private-use characters.
 */
const MARK = /\ue000(\w*)\ue001/g

/** A UUID that is different each time the sample runs. */
export const FRESH_UUID = '\ue000\ue001'

/** @param name of an environment variable: `ITEM_ID`. */
export const shellVariable = (name: string): string => `\ue000${name}\ue001`

export const hasGiven = (text: string): boolean => text.search(MARK) >= 0

/**
 * Replaces placeholders.
 *
 * @param print prints a variable, or a new UUID if the name is undefined.
 */
export const fillGiven = (text: string, print: (name: string | undefined) => string): string =>
  text.replace(MARK, (_, name: string) => print(name || undefined))

/**
 * Converts a string literal with placeholders to an expression that concatenates.
 *
 * @param text the literal, with its quotes.
 * @param plus the operator, with spaces around it.
 */
export function joinGiven(text: string, print: (name: string | undefined) => string, plus = ' + '): string {
  const quote = text.at(-1) ?? ''
  const joined = fillGiven(text, (name) => `${quote}${plus}${print(name)}${plus}${quote}`)
  const empty = `${quote}${quote}`
  const start = joined.startsWith(empty + plus) ? (empty + plus).length : 0
  return joined.slice(start, joined.endsWith(plus + empty) ? -(plus + empty).length : undefined)
}
