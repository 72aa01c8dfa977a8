/** Answers what the package declares, and which properties types have. */
import type { ts } from 'ts-morph'
import type { FileContext } from './file-context.ts'

/** Returns the type of an expression or a pattern, without null and undefined. */
export const typeOf = ({ checker }: FileContext, node: ts.Node): ts.Type =>
  checker.getNonNullableType(checker.getTypeAtLocation(node))

/** Returns a property of a type, or of one of the members of a union. */
export function propertyIn({ checker }: FileContext, type: ts.Type, name: string): ts.Symbol | undefined {
  const own = checker.getPropertyOfType(type, name)
  if (own || !type.isUnion()) return own
  return type.types.map((each) => checker.getPropertyOfType(each, name)).find((each) => each !== undefined)
}

/** Returns the declaration behind an imported name. */
export const aliased = (
  { ts, checker }: FileContext,
  symbol: ts.Symbol | undefined,
): ts.Symbol | undefined =>
  symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol

/** Returns whether the package declares a name for the older version. */
export const isOfVersion = (context: FileContext, symbol: ts.Symbol | undefined): boolean =>
  isDeclaredIn(context, symbol, folderOf(context.types.fileName))

/** Returns whether the package declares a name. */
export const isOfPackage = (context: FileContext, symbol: ts.Symbol | undefined): boolean =>
  isDeclaredIn(context, symbol, folderOf(folderOf(context.types.fileName)))

const folderOf = (path: string): string => path.replace(/[^/]+\/?$/, '')

const isDeclaredIn = (context: FileContext, symbol: ts.Symbol | undefined, folder: string): boolean =>
  aliased(context, symbol)?.declarations?.some((each) => each.getSourceFile().fileName.startsWith(folder)) ??
  false
