/** Answers what a node of the source is, without its types. */
import type { ts } from 'ts-morph'
import type { TypeScriptCompiler } from './sites.ts'

export type Access = ts.PropertyAccessExpression | ts.ElementAccessExpression

/** Returns the name that a key of an object, a type or a pattern has. */
export const nameOf = (ts: TypeScriptCompiler, key: ts.Node): string =>
  ts.isIdentifier(key) || ts.isStringLiteralLike(key) || ts.isNumericLiteral(key) ? key.text : key.getText()

/** Returns the node that names what an expression refers to. */
export const namingNode = (ts: TypeScriptCompiler, expression: ts.Expression): ts.Node =>
  ts.isPropertyAccessExpression(expression) ? expression.name : expression

export const isAccessOf = (ts: TypeScriptCompiler, node: ts.Node, name: string): node is Access =>
  ts.isPropertyAccessExpression(node)
    ? node.name.text === name
    : ts.isElementAccessExpression(node) &&
      ts.isStringLiteralLike(node.argumentExpression) &&
      node.argumentExpression.text === name

/** Returns whether an expression is assigned to, or deleted. */
export function isWritten(ts: TypeScriptCompiler, node: ts.Node): boolean {
  const { parent } = node
  if (ts.isDeleteExpression(parent) || ts.isPostfixUnaryExpression(parent)) return true
  if (!ts.isBinaryExpression(parent) || parent.left !== node) return false
  const { kind } = parent.operatorToken
  return kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment
}

/** Returns whether an expression is read by code that does not itself decide what a missing value means. */
export function isRead(ts: TypeScriptCompiler, node: ts.Node): boolean {
  const { parent } = node
  if (isWritten(ts, node)) return false
  if (
    (ts.isPropertyAccessExpression(parent) || ts.isElementAccessExpression(parent)) &&
    parent.questionDotToken
  )
    return false
  if (!ts.isBinaryExpression(parent)) return true
  const other = parent.left === node ? parent.right : parent.left
  return (
    parent.operatorToken.kind !== ts.SyntaxKind.QuestionQuestionToken &&
    other.kind !== ts.SyntaxKind.NullKeyword &&
    other.getText() !== 'undefined'
  )
}

/** Returns whether a parenthesis before an expression would call what the line before it ends with. */
export function beginsStatement(ts: TypeScriptCompiler, node: ts.Node): boolean {
  let outer = node
  while (outer.parent && outer.parent.getStart() === node.getStart() && !ts.isStatement(outer))
    outer = outer.parent
  return ts.isExpressionStatement(outer)
}

/** Returns whether an operator can follow an expression without parentheses. */
export const isAlone = (ts: TypeScriptCompiler, { parent }: ts.Node): boolean =>
  ts.isVariableDeclaration(parent) ||
  ts.isPropertyAssignment(parent) ||
  ts.isReturnStatement(parent) ||
  ts.isArrowFunction(parent) ||
  ts.isTemplateSpan(parent) ||
  ts.isArrayLiteralExpression(parent) ||
  ts.isCallExpression(parent)

/** Returns what a value is compared with, by an operator or a case. */
export function comparedWith(ts: TypeScriptCompiler, node: ts.Node): ts.Expression | undefined {
  const { parent } = node
  if (ts.isCaseClause(parent)) return parent.parent.parent.expression
  if (!ts.isBinaryExpression(parent)) return undefined
  const operator = ts.tokenToString(parent.operatorToken.kind) ?? ''
  if (!/^[!=]==?$/.test(operator)) return undefined
  return parent.left === node ? parent.right : parent.left
}

/** Returns the types that `'color'` picks from in `Pick<Book, 'color'>`; none for other texts. */
export function pickedFrom(ts: TypeScriptCompiler, { parent }: ts.StringLiteralLike): readonly ts.TypeNode[] {
  if (!ts.isLiteralTypeNode(parent)) return []
  const argument = ts.isUnionTypeNode(parent.parent) ? parent.parent : parent
  const reference = argument.parent
  if (!ts.isTypeReferenceNode(reference)) return []
  return (reference.typeArguments ?? []).filter((each) => each !== argument)
}
