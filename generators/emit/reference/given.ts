/**
 * Values that a sample does not hold but reads when it runs: a UUID made anew for each request, and variables that the
 * reader set in the shell. Until a language prints them they are marks in texts, of characters for private use.
 */
const MARK = /\ue000(\w*)\ue001/g

/** A UUID that is different each time the sample runs. */
export const FRESH_UUID = '\ue000\ue001'

/** @param name of an environment variable: `ITEM_ID`. */
export const shellVariable = (name: string): string => `\ue000${name}\ue001`

export const hasGiven = (text: string): boolean => text.search(MARK) >= 0

/** @param print writes a variable, or a fresh UUID where the name is undefined. */
export const fillGiven = (text: string, print: (name: string | undefined) => string): string =>
  text.replace(MARK, (_, name: string) => print(name || undefined))

/**
 * @param text a string literal in its quotes, as the language writes it.
 * @returns an expression: what is given is joined to the rest with `+`.
 */
export function joinGiven(text: string, print: (name: string | undefined) => string): string {
  const quote = text.at(-1) ?? ''
  const joined = fillGiven(text, (name) => `${quote} + ${print(name)} + ${quote}`)
  const empty = `${quote}${quote}`
  return joined.replace(new RegExp(`^${empty} \\+ | \\+ ${empty}$`, 'g'), '')
}
