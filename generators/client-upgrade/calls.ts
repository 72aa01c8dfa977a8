/** Upgrades calls of operations, and marks what uses their functions without a call. */
import type { ts } from 'ts-morph'
import { operationRules } from './applicable-rules.ts'
import type { FileContext } from './file-context.ts'
import { addMember, insertMember, memberOf } from './object-members.ts'
import type { OperationRule } from './rules.ts'
import type { TypeScriptCompiler } from './sites.ts'
import { nameOf, namingNode } from './syntax.ts'

export function upgradeCall(context: FileContext, call: ts.CallExpression): void {
  const { ts, checker } = context
  const operation = checker.getSymbolAtLocation(namingNode(ts, call.expression))
  for (const rule of operationRules(context, operation)) {
    if (rule.kind === 'look') context.mark(call, rule.change)
    else if (rule.kind === 'add-parameter') addParameter(context, call, rule)
    else if (rule.kind === 'status' && readsResponse(ts, call)) context.mark(call, rule.change)
  }
}

/** Marks a function of an operation that is used without a call, whose calls are elsewhere. */
export function markOperation(context: FileContext, symbol: ts.Symbol, at: ts.Node): void {
  for (const { kind, change } of operationRules(context, symbol))
    if (kind !== 'rename') context.mark(at, change)
}

const readsResponse = (ts: TypeScriptCompiler, { parent }: ts.Node): boolean =>
  ts.isPropertyAccessExpression(parent) && parent.name.text === 'withResponse'

function addParameter(
  context: FileContext,
  call: ts.CallExpression,
  { in: where, name, value, change }: Extract<OperationRule, { kind: 'add-parameter' }>,
): void {
  const { ts, checker } = context
  const group = `${where}: { ${memberOf(context, name, value)} }`
  // A method has the client in front of it, a function takes it as its first argument.
  const index = ts.isPropertyAccessExpression(call.expression) ? 0 : 1
  const input = call.arguments[index]
  if (!input) {
    const at = call.end - 1
    return context.edit(change, at, at, index === 0 ? '' : ', ', `{ ${group} }`)
  }
  if (!ts.isObjectLiteralExpression(input)) {
    const groupOf = checker.getPropertyOfType(checker.getTypeAtLocation(input), where)
    const has = groupOf && checker.getPropertyOfType(checker.getTypeOfSymbolAtLocation(groupOf, input), name)
    return has ? undefined : context.mark(call, change)
  }
  const given = input.properties.find((each) => each.name && nameOf(ts, each.name) === where)
  if (!given) return insertMember(context, change, input, [group])
  if (!ts.isPropertyAssignment(given) || !ts.isObjectLiteralExpression(given.initializer))
    return context.mark(call, change)
  addMember(context, given.initializer, { name, value, change })
}
