// @ts-nocheck
/** Upgrades calls of operations, and marks what uses their functions without a call. */
import type { ts } from 'ts-morph'
import { calledOperation, laterCall, operationRules } from './applicable-rules.ts'
import type { FileContext } from './file-context.ts'
import { addMember, insertMember, memberOf } from './object-members.ts'
import type { CalledOperation } from './operations.ts'
import type { OperationRule } from './rules.ts'
import type { TypeScriptCompiler } from './sites.ts'
import { nameOf, namingNode } from './syntax.ts'

export function upgradeCall(context: FileContext, call: ts.CallExpression): void {
  const { ts, checker } = context
  const symbol = checker.getSymbolAtLocation(namingNode(ts, call.expression))
  const called = calledOperation(context, symbol)
  if (!called) return
  if (hasOtherArguments(context, called))
    context.warn(call, 'the arguments of this method are not those of the older version')
  for (const rule of operationRules(context, symbol)) {
    if (rule.kind === 'look') context.mark(call, rule.change)
    else if (rule.kind === 'add-parameter') addParameter(context, call, called, rule)
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

/** Returns whether the arguments before the options have other places in the newer version. */
function hasOtherArguments(context: FileContext, called: CalledOperation): boolean {
  const later = called.form === 'flat' ? undefined : laterCall(context, called)?.row
  const { path = [], part } = called.row
  return later !== undefined && ((later.path ?? []).length !== path.length || later.part !== part)
}

/** A parameter that a call lacks, with the value that it meant. */
type AddedParameter = Extract<OperationRule, { kind: 'add-parameter' }>

function addParameter(
  context: FileContext,
  call: ts.CallExpression,
  { form, row: { path = [], part } }: CalledOperation,
  rule: AddedParameter,
): void {
  if (form === 'flat') return addTo(context, call, 0, rule.in, rule)
  const first = (form === 'function' ? 1 : 0) + path.length
  if (rule.in === part) return addTo(context, call, first, undefined, rule)
  if (rule.in === 'path') return context.mark(call, rule.change)
  addTo(context, call, first + (part ? 1 : 0), rule.in === 'header' ? 'headers' : rule.in, rule)
}

/**
 * Adds a member to an argument that is an object, or to a group of its members.
 *
 * @param group the member of the argument that holds the new member; absent if that is the argument itself.
 */
function addTo(
  context: FileContext,
  call: ts.CallExpression,
  index: number,
  group: string | undefined,
  { name, value, change }: AddedParameter,
): void {
  const { ts, checker } = context
  const member = memberOf(context, name, value)
  const added = group === undefined ? member : `${group}: { ${member} }`
  const given = call.arguments[index]
  if (!given) {
    const missing = Array.from({ length: index - call.arguments.length }, () => 'undefined')
    const comma = call.arguments.length > 0 ? ', ' : ''
    return context.edit(change, call.end - 1, call.end - 1, comma, [...missing, `{ ${added} }`].join(', '))
  }
  if (!ts.isObjectLiteralExpression(given)) {
    const type = checker.getTypeAtLocation(given)
    const held = group === undefined ? undefined : checker.getPropertyOfType(type, group)
    const owner = held
      ? checker.getTypeOfSymbolAtLocation(held, given)
      : group === undefined
        ? type
        : undefined
    return owner && checker.getPropertyOfType(owner, name) ? undefined : context.mark(call, change)
  }
  if (group === undefined) return addMember(context, given, { name, value, change })
  const grouped = given.properties.find((each) => each.name && nameOf(ts, each.name) === group)
  if (!grouped) return insertMember(context, change, given, [added])
  if (!ts.isPropertyAssignment(grouped) || !ts.isObjectLiteralExpression(grouped.initializer))
    return context.mark(call, change)
  addMember(context, grouped.initializer, { name, value, change })
}
