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
 * Converts a string literal with placeholders to an expression that concatenates with `+`.
 *
 * @param text the literal, with its quotes.
 */
export function joinGiven(text: string, print: (name: string | undefined) => string): string {
  const quote = text.at(-1) ?? ''
  const joined = fillGiven(text, (name) => `${quote} + ${print(name)} + ${quote}`)
  const empty = `${quote}${quote}`
  return joined.replace(new RegExp(`^${empty} \\+ | \\+ ${empty}$`, 'g'), '')
}
