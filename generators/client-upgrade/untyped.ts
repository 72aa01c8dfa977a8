/** Marks values that no type follows, and names of properties that are not in the source. */
import type { ts } from 'ts-morph'
import { isAffected, rulesBelow, rulesOf } from './applicable-rules.ts'
import type { FileContext } from './file-context.ts'
import type { TypeScriptCompiler } from './sites.ts'
import { typeOf } from './symbols.ts'

export const isLoose = (ts: TypeScriptCompiler, { flags }: ts.Type): boolean =>
  (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0

export const warnLoose = ({ from, warn }: FileContext, node: ts.Node): void =>
  warn(node, `no type follows this value: what is in the form of ${from} stays in it`)

/** Marks code that finds properties by names that are not in the source. */
export function markComputed(context: FileContext, value: ts.Expression, at: ts.Node): void {
  const roots = context.sites.ofType(typeOf(context, value))
  const isRenamed = rulesBelow(context, roots).some(({ kind }) => kind !== 'members')
  if (isRenamed) context.warn(at, 'names of properties are computed here, and some have changed')
}

/** Marks `Object.keys(book)`, `JSON.stringify(book)` and the like. */
export function markUntypedCall(context: FileContext, call: ts.CallExpression): void {
  const [argument] = call.arguments
  if (!argument) return
  const name = call.expression.getText(context.file)
  if (/^Object\.(keys|values|entries)$/.test(name)) markComputed(context, argument, call)
  if (name === 'JSON.stringify' && isDeeplyAffected(context, context.checker.getTypeAtLocation(argument)))
    warnLoose(context, call)
}

export const markAssertion = (context: FileContext, node: ts.AssertionExpression): void =>
  markLoose(context, node.expression, node.type, node)

export function markVariable(context: FileContext, { type, initializer }: ts.VariableDeclaration): void {
  if (type && initializer) markLoose(context, initializer, type, initializer)
}

/** Marks a value that loses its type, or gets one that nothing checks. */
function markLoose(context: FileContext, value: ts.Expression, type: ts.TypeNode, at: ts.Node): void {
  const { ts, checker } = context
  const [from, to] = [checker.getTypeAtLocation(value), checker.getTypeFromTypeNode(type)]
  const isLost = isLoose(ts, to) && isDeeplyAffected(context, from)
  const isClaimed = isLoose(ts, from) && isDeeplyAffected(context, to)
  if (isLost || isClaimed) warnLoose(context, at)
}

const DEPTH = 6

/** Returns whether a rule is about a type, or about what its properties hold. */
function isDeeplyAffected(
  context: FileContext,
  type: ts.Type,
  depth = DEPTH,
  seen = new Set<ts.Type>(),
): boolean {
  const { checker, sites } = context
  if (seen.has(type) || depth === 0) return false
  seen.add(type)
  if (isAffected(context, sites.ofType(type))) return true
  const inside = (each: ts.Type) => isDeeplyAffected(context, each, depth - 1, seen)
  if (type.isUnionOrIntersection()) return type.types.some(inside)
  const item = checker.getIndexTypeOfType(type, context.ts.IndexKind.Number)
  if (item) return inside(item)
  return type.getProperties().some((property) => {
    const declared = property.declarations?.some((each) => each.getSourceFile() === context.types)
    return (
      declared === true &&
      (rulesOf(context, sites.ofValues(property)).length > 0 || inside(checker.getTypeOfSymbol(property)))
    )
  })
}
