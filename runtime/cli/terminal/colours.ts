/** Terminal colors. */

/** SGR parameters (ECMA-48 §8.3.117). */
const CODES = { bold: 1, red: 31, green: 32, yellow: 33, magenta: 35, cyan: 36, grey: 90 } as const

export type Colour = keyof typeof CODES

/** Wraps text in a color. Without colors, returns the text unchanged. */
export type Paint = (colour: Colour, text: string) => string

export const plain: Paint = (_, text) => text

/** Returns whether to use colors: `FORCE_COLOR` takes precedence, then `NO_COLOR`, then whether the output is a terminal. */
export function wantsColours(
  output: { readonly isTTY?: boolean },
  { FORCE_COLOR, NO_COLOR, TERM }: Readonly<Record<string, string | undefined>>,
): boolean {
  if (FORCE_COLOR) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  // https://no-color.org: colors are off if the variable is not empty.
  if (NO_COLOR) return false
  return output.isTTY === true && TERM !== 'dumb'
}

export const paintFor = (coloured: boolean): Paint =>
  coloured ? (colour, text) => `\u001b[${CODES[colour]}m${text}\u001b[0m` : plain

/** Makes external text safe for a terminal: replaces control characters, except line feed and tab, with JSON escapes. */
export function withoutControls(text: string): string {
  return text.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those that a terminal obeys
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
