/** Renames types of components, and what is named after an operation: its function, its types, and its options. */
import type { ts } from 'ts-morph'
import { entryOf, laterCall, propertyRules, renamingIn } from './applicable-rules.ts'
import type { FileContext } from './file-context.ts'
import { literalOf } from './spelling.ts'
import { aliased, isOfVersion } from './symbols.ts'

/** Renames an identifier. */
export function upgradeName(context: FileContext, node: ts.Identifier): void {
  const { checker, operations, step } = context
  const symbol = () => checker.getSymbolAtLocation(node)
  // A resource or its method may have the name of another operation.
  const isOurs = () => isOfVersion(context, symbol()) && !operations.isOfResources(aliased(context, symbol()))
  const params = operations.ofParams(node.text)
  const later = params && laterCall(context, params)
  if (later?.row.params !== undefined && later.row.params !== node.text && isOfVersion(context, symbol()))
    context.replace(later.change, node, later.row.params)
  const schema = entryOf(step.schemas, node.text)
  if (schema !== undefined && isOurs()) context.replace(undefined, node, schema)
  for (const [id, rules] of Object.entries(step.operations)) {
    const renamed = renamingIn(rules)
    const to = renamed && renamedAfter(node.text, id, renamed.to)
    if (to !== undefined && isOurs()) context.replace(renamed?.change, node, to)
  }
}

/** Returns the new form of a name that consists of an operation's id and what it is; undefined for other names. */
function renamedAfter(name: string, id: string, to: string): string | undefined {
  const typeOf = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
  const kind = name.slice(id.length)
  if (name.startsWith(id) && /^(\w*Options)?$/.test(kind)) return to + kind
  const isType = name.startsWith(typeOf(id)) && /^(Input|Query|Body|Answer)$/.test(kind)
  return isType ? typeOf(to) + kind : undefined
}

/** Upgrades the name in `operations['getBook']`, `Schemas['Book']` and `Book['color']`. */
export function upgradeIndexedType(context: FileContext, node: ts.IndexedAccessTypeNode): void {
  const { ts, checker, step } = context
  const { indexType } = node
  if (!ts.isLiteralTypeNode(indexType) || !ts.isStringLiteral(indexType.literal)) return
  const { literal } = indexType
  const rename = (change: string | undefined, ...path: readonly string[]) =>
    context.replace(change, literal, path.map((name) => literalOf(context, name)).join(']['))
  const owner = checker.getNonNullableType(checker.getTypeFromTypeNode(node.objectType))
  const property = checker.getPropertyOfType(owner, literal.text)
  if (!property) return
  const isOperations = owner.symbol?.name === 'operations' && isOfVersion(context, owner.symbol)
  const renamed = isOperations ? renamingIn(entryOf(step.operations, literal.text) ?? []) : undefined
  if (renamed) rename(renamed.change, renamed.to)
  const schema = entryOf(step.schemas, literal.text)
  const holder = property.declarations?.[0]?.parent.parent
  if (schema !== undefined && holder && ts.isPropertySignature(holder) && isOfVersion(context, property))
    rename(undefined, schema)
  for (const rule of propertyRules(context, property, owner)) {
    if (rule.kind === 'rename') rename(rule.change, rule.to)
    else if (rule.kind === 'move' && rule.from.length === 1) rename(rule.change, ...rule.to)
    else if (rule.kind === 'look' || rule.kind === 'move') context.mark(node, rule.change)
  }
}
