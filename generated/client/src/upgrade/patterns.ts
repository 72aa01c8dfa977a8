// @ts-nocheck
/** Upgrades patterns that read properties, such as `const { color } = book`. */
import type { ts } from 'ts-morph'
import { calledOperation, laterCall, operationRules, propertyRules, renamingIn } from './applicable-rules.ts'
import { markOperation } from './calls.ts'
import type { FileContext } from './file-context.ts'
import { type MovedPart, moveParts } from './moves.ts'
import { renamePart } from './renames.ts'
import { typeOf } from './symbols.ts'
import { nameOf } from './syntax.ts'

export function upgradePattern(context: FileContext, pattern: ts.ObjectBindingPattern): void {
  const { ts, checker, file } = context
  const owner = typeOf(context, pattern)
  const moves: MovedPart[] = []
  for (const element of pattern.elements) {
    if (element.dotDotDotToken) continue
    const key = element.propertyName ?? element.name
    const property = checker.getPropertyOfType(owner, nameOf(ts, key))
    if (!property) continue
    const target = element.propertyName && element.name
    markOperation(context, property, element)
    const called = calledOperation(context, property)
    const renamed = called && !target ? renamingIn(operationRules(context, property)) : undefined
    const later = called && laterCall(context, called)?.row.method.join('.')
    if (called?.form === 'resource') {
      if (later !== undefined && later !== called.row.method.join('.'))
        context.warn(element, `this method is \`${later}\` of the client`)
    } else if (renamed) renamePart(context, element, key, target, renamed)
    for (const rule of propertyRules(context, property, owner)) {
      if (rule.kind === 'rename') renamePart(context, element, key, target, rule)
      else if (rule.kind === 'move' && rule.from.length === 1)
        moves.push({ ...rule, part: element, value: [element.name.getStart(file), element.end] })
      else if (rule.kind === 'look' || rule.kind === 'move' || rule.kind === 'fallback')
        context.mark(element, rule.change)
    }
  }
  moveParts(context, pattern.elements, moves)
}
