// @ts-nocheck
/** Adds members to objects that a program writes. */
import type { ts } from 'ts-morph'
import { rulesOf } from './applicable-rules.ts'
import { newlineOf, type SourceEdit } from './edits.ts'
import type { FileContext } from './file-context.ts'
import type { SiteRule } from './rules.ts'
import { keyOf, literalOf } from './spelling.ts'
import { nameOf } from './syntax.ts'

/** Adds a member after the last one, on a line of its own if that has one. */
export function insertMember(
  { file, edit }: FileContext,
  change: string | undefined,
  object: ts.ObjectLiteralExpression,
  parts: SourceEdit['parts'],
): void {
  const last = object.properties.at(-1)
  if (!last) return edit(change, object.getStart(file) + 1, object.getStart(file) + 1, ' ', ...parts, ' ')
  const line = file.text.lastIndexOf('\n', last.getStart(file)) + 1
  const indentation = file.text.slice(line, last.getStart(file))
  const onOwnLine = line > object.getStart(file) && /^\s*$/.test(indentation)
  edit(change, last.end, last.end, onOwnLine ? `,${newlineOf(file.text)}${indentation}` : ', ', ...parts)
}

/** Adds a property with its value, unless the object has it. */
export function addMember(
  context: FileContext,
  object: ts.ObjectLiteralExpression,
  { name, value, change }: Omit<Extract<SiteRule, { kind: 'add' }>, 'kind'>,
): void {
  const { ts, checker, sites } = context
  const holds = (type: ts.Type) =>
    checker.getPropertyOfType(type, name) !== undefined ||
    rulesOf(context, sites.ofObject(type)).some((rule) => rule.kind === 'add' && rule.name === name)
  const known = object.properties.some((member) =>
    ts.isSpreadAssignment(member)
      ? holds(checker.getTypeAtLocation(member.expression))
      : nameOf(ts, member.name) === name,
  )
  if (known) return
  if (object.properties.some(ts.isSpreadAssignment)) return context.mark(object, change)
  insertMember(context, change, object, [memberOf(context, name, value)])
}

/** Returns the text of a member. */
export const memberOf = (context: FileContext, name: string, value: unknown): string =>
  `${keyOf(context, name)}: ${literalOf(context, value)}`
