// @ts-nocheck
/** Upgrades objects that a program writes, such as `{ color: 'red' }`. */
import type { ts } from 'ts-morph'
import { isAffected, propertyRules, rulesOf } from './applicable-rules.ts'
import type { FileContext } from './file-context.ts'
import { type MovedPart, moveParts } from './moves.ts'
import { addMember } from './object-members.ts'
import { renameEnumMember, renamePart } from './renames.ts'
import { literalOf } from './spelling.ts'
import { propertyIn } from './symbols.ts'
import { nameOf } from './syntax.ts'
import { isLoose, warnLoose } from './untyped.ts'

export function upgradeObject(context: FileContext, object: ts.ObjectLiteralExpression): void {
  const { ts, checker, file, sites } = context
  const type = checker.getContextualType(object)
  if (!type) return
  const owner = checker.getNonNullableType(type)
  for (const rule of rulesOf(context, sites.ofKeys(owner)))
    if (rule.kind === 'members')
      for (const { name } of object.properties)
        if (name) renameEnumMember(context, rule, name, nameOf(ts, name))
  const moves: MovedPart[] = []
  // A nested object would replace what is spread of it.
  const isSpread = object.properties.some(ts.isSpreadAssignment)
  for (const member of object.properties) {
    if (ts.isSpreadAssignment(member)) {
      const spread = checker.getTypeAtLocation(member.expression)
      if (isLoose(ts, spread) && isAffected(context, sites.ofType(owner))) warnLoose(context, member)
      continue
    }
    const { name } = member
    const property = propertyIn(context, owner, nameOf(ts, name))
    if (!property) continue
    const value = ts.isPropertyAssignment(member) ? member.initializer : undefined
    for (const rule of propertyRules(context, property, owner)) {
      if (rule.kind === 'rename') renamePart(context, member, name, value, rule)
      else if (rule.kind === 'move') {
        if (rule.from.length > 1 || ts.isFunctionLike(member) || isSpread) context.mark(member, rule.change)
        else moves.push({ ...rule, part: member, value: [(value ?? name).getStart(file), member.end] })
      } else if (rule.kind === 'look') context.mark(member, rule.change)
      else if (rule.kind === 'never-null' && value) {
        if (value.kind === ts.SyntaxKind.NullKeyword)
          context.replace(rule.change, value, literalOf(context, rule.value))
        else if (allowsNull(context, value)) context.mark(member, rule.change)
      }
    }
  }
  moveParts(context, object.properties, moves)
  for (const rule of rulesOf(context, sites.ofObject(owner)))
    if (rule.kind === 'add') addMember(context, object, rule)
}

function allowsNull({ ts, checker }: FileContext, value: ts.Expression): boolean {
  const type = checker.getTypeAtLocation(value)
  return type.isUnion() && type.types.some(({ flags }) => flags & ts.TypeFlags.Null)
}
