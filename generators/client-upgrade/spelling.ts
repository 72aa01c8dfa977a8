/** Spells values and names as a file spells them. */
import type { FileContext } from './file-context.ts'

/** Returns a value as a literal with the quotes of the file. */
export function literalOf({ quote }: FileContext, value: unknown): string {
  const text = JSON.stringify(value)
  if (quote === '"') return text
  return text.replaceAll(
    /"((?:[^"\\]|\\.)*)"/g,
    (_, inner: string) => `'${inner.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`,
  )
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u
export const isIdentifierName = (name: string): boolean => IDENTIFIER.test(name)

/** Returns a name as the key of an object. */
export const keyOf = (context: FileContext, name: string): string =>
  isIdentifierName(name) ? name : literalOf(context, name)

/** Returns a name as it follows the object that it is read from. */
export const accessOf = (context: FileContext, name: string): string =>
  isIdentifierName(name) ? `.${name}` : `[${literalOf(context, name)}]`
