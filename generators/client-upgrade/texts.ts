/** Upgrades texts: module names, versions, headers, and members of enumerations. */
import type { ts } from 'ts-morph'
import { entryOf, propertyRules, rulesOf } from './applicable-rules.ts'
import { sitesOfText } from './enumerations.ts'
import type { FileContext } from './file-context.ts'
import { renameEnumMember } from './renames.ts'
import { literalOf } from './spelling.ts'
import { isOfPackage } from './symbols.ts'
import { comparedWith, pickedFrom } from './syntax.ts'

export function upgradeText(context: FileContext, node: ts.StringLiteralLike): void {
  const { ts, step, file, package: name } = context
  const { text } = node
  const own = `${name}/${step.from}`
  const rewrite = (to: string) => context.edit(undefined, node.getStart(file) + 1, node.end - 1, to)
  if (text === own || text.startsWith(`${own}/`))
    return rewrite(`${name}/${step.to}${text.slice(own.length)}`)
  if (text === step.from) {
    const isCompared = isComparedVersion(context, node)
    if (isCompared)
      context.warn(
        node,
        `deliveries stay in ${context.from} until their endpoint or account moves to ${context.to}`,
      )
    if (isCompared || isVersion(context, node)) return rewrite(step.to)
  }
  for (const { from, change } of step.headers)
    if (text.toLowerCase() === from.toLowerCase()) context.mark(node, change)
  renamePicked(context, node)
  const members = rulesOf(context, sitesOfText(context, node)).filter((rule) => rule.kind === 'members')
  for (const rule of members) {
    renameEnumMember(context, rule, node, text)
    if (comparedWith(ts, node) && Object.hasOwn(rule.split, text)) context.mark(node, rule.change)
  }
  if (members.length === 0 && isCompound(text) && isPlainText(context, node)) noteText(context, node)
}

// ----- Versions -----

/** Returns whether a text is a version of the package: an argument of `at`, or one of its types. */
function isVersion(context: FileContext, { parent }: ts.Node): boolean {
  const { ts, checker } = context
  const isOurs = (name: ts.Node) => isOfPackage(context, checker.getSymbolAtLocation(name))
  if (ts.isCallExpression(parent) && ts.isPropertyAccessExpression(parent.expression))
    return isOurs(parent.expression.name)
  if (!ts.isLiteralTypeNode(parent)) return false
  const outer = ts.isIndexedAccessTypeNode(parent.parent) ? parent.parent.objectType : parent.parent
  return ts.isTypeReferenceNode(outer) && isOurs(outer.typeName)
}

/** Returns whether a text is compared with the version of a delivery. */
function isComparedVersion({ ts, checker, step }: FileContext, node: ts.StringLiteralLike): boolean {
  const other = comparedWith(ts, node)
  const type = other && checker.getTypeAtLocation(other)
  const members = type?.isUnion()
    ? type.types.flatMap((each) => (each.isStringLiteral() ? [each.value] : []))
    : []
  return members.includes(step.from) && members.includes(step.to)
}

// ----- Names of properties -----

/** Renames a property in `Pick<Book, 'color'>` and the like. */
function renamePicked(context: FileContext, node: ts.StringLiteralLike): void {
  const { ts, checker } = context
  for (const picked of pickedFrom(ts, node)) {
    const owner = checker.getTypeFromTypeNode(picked)
    const property = checker.getPropertyOfType(owner, node.text)
    for (const rule of property ? propertyRules(context, property, owner) : [])
      if (rule.kind === 'rename') context.replace(rule.change, node, literalOf(context, rule.to))
      else if (rule.kind === 'move' || rule.kind === 'look') context.mark(node, rule.change)
  }
}

// ----- Texts that may be members of enumerations -----

/** Returns whether a text is a value that has no other type than that of texts. */
function isPlainText({ ts, checker }: FileContext, node: ts.StringLiteralLike): boolean {
  const { parent } = node
  if (ts.isElementAccessExpression(parent) || ts.isLiteralTypeNode(parent)) return false
  if (ts.isObjectLiteralElement(parent) && parent.name === node) return false
  const expected = checker.getContextualType(node)
  return expected === undefined || (expected.flags & ts.TypeFlags.String) !== 0
}

/** Returns whether a text is too long or too odd to be equal to the member of an enumeration by accident. */
const isCompound = (text: string): boolean => /^[a-zA-Z]+([-_.A-Z][a-zA-Z]+)+$/.test(text)

/** Notes a text that is spelled like a renamed member, where no type says whether it is one. */
function noteText({ step, note }: FileContext, node: ts.StringLiteralLike): void {
  const to = Object.values(step.sites)
    .flat()
    .map((rule) => (rule.kind === 'members' ? entryOf(rule.rename, node.text) : undefined))
    .find((each) => each !== undefined)
  if (to !== undefined)
    note(node, `'${node.text}' is perhaps what is now '${to}'; it has no type that decides`)
}
