// @ts-nocheck
/** Finds the enumerations that a text is a member of. */
import type { ts } from 'ts-morph'
import type { FileContext } from './file-context.ts'
import { propertyIn, typeOf } from './symbols.ts'
import { comparedWith, nameOf, namingNode, pickedFrom } from './syntax.ts'

/** Returns the sites of the enumerations that a text is a member of. */
export function sitesOfText(context: FileContext, node: ts.StringLiteralLike): readonly string[] {
  const { ts, checker, sites } = context
  if (ts.isLiteralTypeNode(node.parent))
    return pickedFrom(ts, node).flatMap((each) => sites.ofType(checker.getTypeFromTypeNode(each)))
  const other = comparedWith(ts, node)
  return other ? sitesOfExpression(context, other) : sitesExpected(context, node)
}

/** Returns the sites of the enumeration that an expression is expected to be a member of. */
function sitesExpected(context: FileContext, node: ts.Expression): readonly string[] {
  const { ts, checker, sites } = context
  const { parent } = node
  const byType = sites.ofType(checker.getContextualType(node))
  if (ts.isPropertyAssignment(parent))
    return [...byType, ...sitesInside(context, checker.getContextualType(parent.parent), parent.name)]
  if (
    ts.isConditionalExpression(parent) ||
    ts.isParenthesizedExpression(parent) ||
    ts.isArrayLiteralExpression(parent)
  )
    return [...byType, ...sitesExpected(context, parent)]
  return byType
}

/** Returns the sites of what a property of a type holds. */
function sitesInside(context: FileContext, owner: ts.Type | undefined, key: ts.Node): readonly string[] {
  const { ts, checker, sites } = context
  const property = owner && propertyIn(context, checker.getNonNullableType(owner), nameOf(ts, key))
  return property ? sites.ofValues(property) : []
}

/** Returns the sites of the enumeration that an expression holds a member of. */
function sitesOfExpression(context: FileContext, expression: ts.Expression): readonly string[] {
  const { ts, checker, sites } = context
  if (ts.isParenthesizedExpression(expression) || ts.isNonNullExpression(expression))
    return sitesOfExpression(context, expression.expression)
  const byType = sites.ofType(typeOf(context, expression))
  const symbol = checker.getSymbolAtLocation(namingNode(ts, expression))
  if (!symbol) return byType
  const declaration = symbol.valueDeclaration
  // A condition before this place may have left fewer members of the type, but not of its declaration.
  const declared = declaration ? sites.ofType(checker.getTypeOfSymbolAtLocation(symbol, declaration)) : []
  const found = [...byType, ...declared, ...sites.ofValues(symbol)]
  if (!declaration) return found
  if (ts.isBindingElement(declaration)) {
    const { parent, propertyName, name } = declaration
    return [...found, ...sitesInside(context, checker.getTypeAtLocation(parent), propertyName ?? name)]
  }
  if (ts.isParameter(declaration)) return [...found, ...sites.ofNode(declaration.type)]
  if (!ts.isVariableDeclaration(declaration)) return found
  const { type, initializer } = declaration
  const initial = initializer && initializer !== expression ? sitesOfExpression(context, initializer) : []
  return [...found, ...sites.ofNode(type), ...initial]
}
