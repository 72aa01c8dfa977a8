// @ts-nocheck
/** Upgrades reads and writes of properties, such as `book.color` and `book['color']`. */
import type { ts } from 'ts-morph'
import { calledOperation, laterCall, propertyRules, rulesOf } from './applicable-rules.ts'
import { markOperation } from './calls.ts'
import type { FileContext } from './file-context.ts'
import { renameAccess, renameEnumMember } from './renames.ts'
import type { SiteRule } from './rules.ts'
import { accessOf, literalOf } from './spelling.ts'
import { typeOf } from './symbols.ts'
import { type Access, beginsStatement, isAccessOf, isAlone, isRead, isWritten, nameOf } from './syntax.ts'

/** @param name the node that names the property. */
export function upgradeAccess(context: FileContext, node: Access, name: ts.Node): void {
  const { ts, checker, sites } = context
  const owner = typeOf(context, node.expression)
  for (const rule of rulesOf(context, sites.ofKeys(owner)))
    if (rule.kind === 'members') renameEnumMember(context, rule, name, nameOf(ts, name))
  const property = checker.getSymbolAtLocation(name)
  if (!property) return
  if (!ts.isCallExpression(node.parent) || node.parent.expression !== node)
    markOperation(context, property, node)
  moveMethod(context, node, property)
  for (const rule of propertyRules(context, property, owner)) {
    if (rule.kind === 'rename') renameAccess(context, node, name, rule)
    else if (rule.kind === 'move') moveAccess(context, node, rule)
    else if (rule.kind === 'look') context.mark(node, rule.change)
    else if (rule.kind === 'fallback' && isRead(ts, node)) addFallback(context, node, rule)
  }
}

/** Writes the new name of a resource's method, which may be a method of another resource. */
function moveMethod(context: FileContext, node: Access, property: ts.Symbol): void {
  const { ts } = context
  const called = calledOperation(context, property)
  const later = called?.form === 'resource' && laterCall(context, called)
  if (!later) return
  const [from, to] = [called.row.method, later.row.method]
  if (from.join('.') === to.join('.')) return
  let root: ts.Expression = node
  for (const name of from.toReversed()) {
    if (!isAccessOf(ts, root, name) || root.questionDotToken)
      return context.warn(node, `this method is \`${to.join('.')}\` of the client`)
    root = root.expression
  }
  context.edit(later.change, root.end, node.end, ...to.map((name) => accessOf(context, name)))
}

function moveAccess(
  context: FileContext,
  node: Access,
  { from, to, change }: Extract<SiteRule, { kind: 'move' }>,
): void {
  const { ts } = context
  let outermost: ts.Expression = node
  let first: Access = node
  for (const name of [...from].reverse()) {
    if (!isAccessOf(ts, outermost, name)) return context.mark(node, change)
    first = outermost
    outermost = outermost.expression
  }
  if (isWritten(ts, node)) return context.mark(node, change)
  const [head = '', ...rest] = to.map((name) => accessOf(context, name))
  const start = first.questionDotToken ? `?.${head.replace(/^\./, '')}` : head
  context.edit(change, outermost.end, node.end, start + rest.join(''))
}

function addFallback(
  context: FileContext,
  node: Access,
  { value, change }: Extract<SiteRule, { kind: 'fallback' }>,
): void {
  const { ts, file } = context
  const isObject = typeof value === 'object' && value !== null
  if (isObject || ts.isOptionalChain(node) || beginsStatement(ts, node)) return context.mark(node, change)
  const start = node.getStart(file)
  const fallback = ` ?? ${literalOf(context, value)}`
  if (isAlone(ts, node)) return context.edit(change, node.end, node.end, fallback)
  context.edit(change, start, start, '(')
  context.edit(change, node.end, node.end, `${fallback})`)
}
