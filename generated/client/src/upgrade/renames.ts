// @ts-nocheck
/** Writes new names of properties, and of members of enumerations, where a program uses the old ones. */
import type { ts } from 'ts-morph'
import { entryOf, type Renaming } from './applicable-rules.ts'
import type { FileContext } from './file-context.ts'
import type { SiteRule } from './rules.ts'
import { accessOf, isIdentifierName, keyOf, literalOf } from './spelling.ts'
import type { Access } from './syntax.ts'

/** @param name the node that names the property. */
export function renameAccess(
  context: FileContext,
  node: Access,
  name: ts.Node,
  { to, change }: Renaming,
): void {
  const { ts, file } = context
  if (ts.isElementAccessExpression(node)) context.replace(change, name, literalOf(context, to))
  else if (isIdentifierName(to)) context.replace(change, name, to)
  else {
    const start = node.questionDotToken ? name.getStart(file) : node.expression.end
    context.edit(change, start, name.end, accessOf(context, to))
  }
}

/**
 * Renames the property of a member of an object, or of a binding of a pattern.
 *
 * @param value what holds its value; absent if that has the name of the property.
 */
export function renamePart(
  context: FileContext,
  part: ts.Node,
  key: ts.Node,
  value: ts.Node | undefined,
  { to, change }: Renaming,
): void {
  const { file } = context
  const start = key.getStart(file)
  const name = keyOf(context, to)
  if (!value) context.edit(change, start, start, `${name}: `)
  else if (file.text.slice(value.getStart(file), part.end) === to) context.edit(change, start, part.end, to)
  else context.replace(change, key, name)
}

/** Renames a member of an enumeration: a text, or a key of a table such as `Record<Status, string>`. */
export function renameEnumMember(
  context: FileContext,
  { rename, split, change }: Extract<SiteRule, { kind: 'members' }>,
  node: ts.Node,
  text: string,
): void {
  const { ts } = context
  const { parent } = node
  const to = entryOf(rename, text)
  const isKey = ts.isObjectLiteralElement(parent) || ts.isPropertyAccessExpression(parent)
  if (to === undefined) {
    if (isKey && Object.hasOwn(split, text)) context.mark(node, change)
  } else if (!ts.isIdentifier(node)) context.replace(change, node, literalOf(context, to))
  else if (ts.isPropertyAccessExpression(parent)) renameAccess(context, parent, node, { to, change })
  else context.replace(change, node, keyOf(context, to))
}
