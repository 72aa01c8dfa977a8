// @ts-nocheck
/** Upgrades the files of a program from one version to the next. */
import type { ts } from 'ts-morph'
import type { SourceEdit } from './edits.ts'
import type { OperationRule, SiteRule, UpgradeStep } from './rules.ts'
import type { Sites, TypeScriptCompiler } from './sites.ts'

/** A place in a file that needs a person. Positions are those of the text before the step. */
export interface UpgradeMark {
  readonly start: number
  readonly version: string
  /** Id of the change; absent if no single change is the reason. */
  readonly change?: string
  readonly why: string
  /** Whether it is only reported, because it may be nothing. */
  readonly isNoted?: true
}

/** An edit with the change that it follows; absent if it follows from the date alone. */
export interface UpgradeEdit extends SourceEdit {
  readonly change?: string
}

export interface UpgradedFile {
  readonly edits: readonly UpgradeEdit[]
  readonly marks: readonly UpgradeMark[]
}

/** A program with the names of its client package. */
export interface ClientProgram {
  /** The versions of the whole upgrade, of which a step is a part. */
  readonly from: string
  readonly to: string
  readonly ts: TypeScriptCompiler
  readonly checker: ts.TypeChecker
  readonly package: string
  /** The file of the package that declares the types of the older version, and what it declares. */
  readonly types: ts.SourceFile
  readonly sites: Sites
}

export const newlineOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

/** Returns the edits and marks of one file. */
export function upgradeFile(program: ClientProgram, step: UpgradeStep, file: ts.SourceFile): UpgradedFile {
  const edits: UpgradeEdit[] = []
  const marks = new Map<string, UpgradeMark>()
  const context: FileContext = {
    ...program,
    step,
    file,
    quote: /from "/.test(file.text) && !/from '/.test(file.text) ? '"' : "'",
    newline: newlineOf(file.text),
    edit: (change, start, end, ...parts) =>
      void edits.push({ start, end, parts, ...(change !== undefined && { change }) }),
    mark(node, change) {
      const why = change === undefined ? 'names in the path have changed' : (step.changes[change] ?? '')
      addMark(node, { version: step.to, why, ...(change !== undefined && { change }) })
    },
    warn: (node, why) => addMark(node, { version: program.to, why }),
    note: (node, why) => addMark(node, { version: step.to, why, isNoted: true }),
  }

  visit(file)
  return { edits, marks: [...marks.values()] }

  function addMark(node: ts.Node, mark: Omit<UpgradeMark, 'start'>): void {
    const start = node.getStart(file)
    marks.set(`${start} ${mark.why}`, { ...mark, start })
  }

  function visit(node: ts.Node): void {
    upgradeNode(context, node)
    node.forEachChild(visit)
  }
}

interface FileContext extends ClientProgram {
  readonly step: UpgradeStep
  readonly file: ts.SourceFile
  readonly quote: string
  readonly newline: string
  /** @param change the change that the edit follows. */
  edit(change: string | undefined, start: number, end: number, ...parts: SourceEdit['parts']): void
  /** Marks a node with the reason of a change. */
  mark(node: ts.Node, change: string | undefined): void
  /** Marks a node for a reason that is not one change. */
  warn(node: ts.Node, why: string): void
  /** Reports a node, and writes no comment. */
  note(node: ts.Node, why: string): void
}

function upgradeNode(context: FileContext, node: ts.Node): void {
  const { ts } = context
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) upgradeText(context, node)
  else if (ts.isPropertyAccessExpression(node)) upgradeAccess(context, node, node.name)
  else if (ts.isElementAccessExpression(node)) {
    if (ts.isStringLiteralLike(node.argumentExpression)) upgradeAccess(context, node, node.argumentExpression)
    else markComputed(context, node.expression, node)
  } else if (ts.isObjectLiteralExpression(node)) upgradeObject(context, node)
  else if (ts.isObjectBindingPattern(node)) upgradePattern(context, node)
  else if (ts.isIndexedAccessTypeNode(node)) upgradeIndexedType(context, node)
  else if (ts.isIdentifier(node)) upgradeName(context, node)
  else if (ts.isCallExpression(node)) upgradeCall(context, node)
  else if (ts.isAsExpression(node) || ts.isTypeAssertionExpression(node)) upgradeAssertion(context, node)
  else if (ts.isVariableDeclaration(node)) upgradeVariable(context, node)
  else if (ts.isForInStatement(node)) markComputed(context, node.expression, node.expression)
}

// ----- Rules -----

const rulesOf = ({ step }: FileContext, sites: readonly string[]): readonly SiteRule[] => [
  ...new Set(sites.flatMap((site) => step.sites[site] ?? [])),
]

/** Returns the rules of a property, and of the type of its values, except for enumerations. */
function propertyRules(context: FileContext, property: ts.Symbol, owner?: ts.Type): readonly SiteRule[] {
  const { sites } = context
  const inherited = sites.ofType(owner).map((root) => `${root}.${property.name}`)
  const own = rulesOf(context, [...sites.ofProperty(property), ...inherited])
  const ofValues = rulesOf(context, sites.ofValues(property)).filter(
    ({ kind }) => kind === 'look' || kind === 'fallback' || kind === 'never-null',
  )
  return [...new Set([...own, ...ofValues])]
}

/** Returns whether a rule is about an object with these sites, or about one of its properties. */
function isAffected({ step }: FileContext, roots: readonly string[]): boolean {
  return Object.keys(step.sites).some((site) =>
    roots.some((root) => site === root || site.startsWith(`${root}.`)),
  )
}

function literalOf({ quote }: FileContext, value: unknown): string {
  const text = JSON.stringify(value)
  if (quote === '"') return text
  return text.replaceAll(
    /"((?:[^"\\]|\\.)*)"/g,
    (_, inner: string) => `'${inner.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`,
  )
}

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u
const keyOf = (context: FileContext, name: string): string =>
  IDENTIFIER.test(name) ? name : literalOf(context, name)
const accessOf = (context: FileContext, name: string): string =>
  IDENTIFIER.test(name) ? `.${name}` : `[${literalOf(context, name)}]`

// ----- Reading -----

type Access = ts.PropertyAccessExpression | ts.ElementAccessExpression

function upgradeAccess(context: FileContext, node: Access, name: ts.Node): void {
  const { ts, checker, file, sites } = context
  const owner = checker.getTypeAtLocation(node.expression)
  const nonNull = checker.getNonNullableType(owner)
  if (ts.isStringLiteralLike(name) || ts.isIdentifier(name)) {
    const keys = rulesOf(context, sites.ofKeys(nonNull))
    for (const rule of keys) if (rule.kind === 'members') renameMember(context, rule, name, name.text)
  }
  const property = checker.getSymbolAtLocation(name)
  if (!property) return
  if (!ts.isCallExpression(node.parent) || node.parent.expression !== node)
    markOperation(context, property, node)
  for (const rule of propertyRules(context, property, nonNull)) {
    if (rule.kind === 'rename') renameAccess(context, node, name, rule)
    else if (rule.kind === 'move') moveAccess(context, node, rule)
    else if (rule.kind === 'look') context.mark(node, rule.change)
    else if (rule.kind === 'fallback' && isRead(ts, node)) {
      const isObject = typeof rule.value === 'object' && rule.value !== null
      if (isObject || ts.isOptionalChain(node) || beginsStatement(ts, node)) context.mark(node, rule.change)
      else if (isAlone(ts, node))
        context.edit(rule.change, node.end, node.end, ` ?? ${literalOf(context, rule.value)}`)
      else {
        context.edit(rule.change, node.getStart(file), node.getStart(file), '(')
        context.edit(rule.change, node.end, node.end, ` ?? ${literalOf(context, rule.value)})`)
      }
    }
  }
}

/** A new name, with the change that gives it. */
interface Renaming {
  readonly to: string
  readonly change?: string
}

function renameAccess(context: FileContext, node: Access, name: ts.Node, { to, change }: Renaming): void {
  const { ts, file } = context
  if (ts.isElementAccessExpression(node))
    context.edit(change, name.getStart(file), name.end, literalOf(context, to))
  else if (IDENTIFIER.test(to)) context.edit(change, name.getStart(file), name.end, to)
  else {
    const start = node.questionDotToken ? name.getStart(file) : node.expression.end
    context.edit(change, start, name.end, accessOf(context, to))
  }
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

const isAccessOf = (ts: TypeScriptCompiler, node: ts.Node, name: string): node is Access =>
  ts.isPropertyAccessExpression(node)
    ? node.name.text === name
    : ts.isElementAccessExpression(node) &&
      ts.isStringLiteralLike(node.argumentExpression) &&
      node.argumentExpression.text === name

const ASSIGNMENTS = /^(?:[^=!<>]|\*\*|<<|>>|>>>|&&|\|\||\?\?)?=$/

/** Returns whether an expression is assigned to, or deleted. */
function isWritten(ts: TypeScriptCompiler, node: ts.Node): boolean {
  const { parent } = node
  if (ts.isDeleteExpression(parent) || ts.isPostfixUnaryExpression(parent)) return true
  return (
    ts.isBinaryExpression(parent) &&
    parent.left === node &&
    ASSIGNMENTS.test(ts.tokenToString(parent.operatorToken.kind) ?? '')
  )
}

/** Returns whether an expression is read by code that does not itself decide what a missing value means. */
function isRead(ts: TypeScriptCompiler, node: ts.Node): boolean {
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
function beginsStatement(ts: TypeScriptCompiler, node: ts.Node): boolean {
  let outer = node
  while (outer.parent && outer.parent.getStart() === node.getStart() && !ts.isStatement(outer))
    outer = outer.parent
  return ts.isExpressionStatement(outer)
}

/** Returns whether an operator can follow an expression without parentheses. */
const isAlone = (ts: TypeScriptCompiler, { parent }: ts.Node): boolean =>
  ts.isVariableDeclaration(parent) ||
  ts.isPropertyAssignment(parent) ||
  ts.isReturnStatement(parent) ||
  ts.isArrowFunction(parent) ||
  ts.isTemplateSpan(parent) ||
  ts.isArrayLiteralExpression(parent) ||
  ts.isCallExpression(parent)

function upgradePattern(context: FileContext, pattern: ts.ObjectBindingPattern): void {
  const { ts, checker, file, step } = context
  const owner = checker.getNonNullableType(checker.getTypeAtLocation(pattern))
  const moves: MovedPart[] = []
  for (const element of pattern.elements) {
    const key = element.propertyName ?? element.name
    const property =
      (ts.isIdentifier(key) || ts.isStringLiteral(key)) && !element.dotDotDotToken
        ? checker.getPropertyOfType(owner, key.text)
        : undefined
    if (!property) continue
    const target = element.propertyName ? element.name : undefined
    markOperation(context, property, element)
    const id = operationOf(context, property)
    const renamed = id === undefined || element.propertyName ? undefined : renamedOperation(step, id)
    if (renamed) renamePart(context, element, key, target, renamed)
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

/**
 * Renames the property of a member or of a binding.
 *
 * @param value what holds its value; absent if that has the name of the property.
 */
function renamePart(
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
  else context.edit(change, start, key.end, name)
}

// ----- Objects -----

function upgradeObject(context: FileContext, object: ts.ObjectLiteralExpression): void {
  const { ts, checker, sites } = context
  const type = checker.getContextualType(object)
  if (!type) return
  const owner = checker.getNonNullableType(type)
  for (const rule of rulesOf(context, sites.ofKeys(owner)))
    if (rule.kind === 'members')
      for (const { name } of object.properties)
        if (name && (ts.isIdentifier(name) || ts.isStringLiteral(name)))
          renameMember(context, rule, name, name.text)
  const moves: MovedPart[] = []
  // A nested object would replace what is spread of it.
  const isSpread = object.properties.some(ts.isSpreadAssignment)
  for (const member of object.properties) {
    if (ts.isSpreadAssignment(member)) {
      if (
        isLoose(ts, checker.getTypeAtLocation(member.expression)) &&
        isAffected(context, sites.ofType(owner))
      )
        context.warn(member, looseReason(context))
      continue
    }
    const name = member.name
    if (!ts.isIdentifier(name) && !ts.isStringLiteral(name)) continue
    const property = propertyIn(context, owner, name.text)
    if (!property) continue
    for (const rule of propertyRules(context, property, owner)) {
      if (rule.kind === 'rename')
        renamePart(
          context,
          member,
          name,
          ts.isPropertyAssignment(member) ? member.initializer : undefined,
          rule,
        )
      else if (rule.kind === 'move') {
        const value = ts.isPropertyAssignment(member) ? member.initializer : name
        if (rule.from.length > 1 || ts.isFunctionLike(member) || isSpread) context.mark(member, rule.change)
        else moves.push({ ...rule, part: member, value: [value.getStart(context.file), member.end] })
      } else if (rule.kind === 'look') context.mark(member, rule.change)
      else if (rule.kind === 'never-null' && ts.isPropertyAssignment(member)) {
        const { initializer } = member
        if (initializer.kind === ts.SyntaxKind.NullKeyword)
          context.edit(
            rule.change,
            initializer.getStart(context.file),
            initializer.end,
            literalOf(context, rule.value),
          )
        else if (isNullable(ts, checker.getTypeAtLocation(initializer))) context.mark(member, rule.change)
      }
    }
  }
  moveParts(context, object.properties, moves)
  for (const rule of rulesOf(context, sites.ofObject(owner)))
    if (rule.kind === 'add') addMember(context, object, rule)
}

/** Returns a property of a type, or of one of the members of a union. */
function propertyIn({ checker }: FileContext, type: ts.Type, name: string): ts.Symbol | undefined {
  const own = checker.getPropertyOfType(type, name)
  if (own || !type.isUnion()) return own
  return type.types.map((each) => checker.getPropertyOfType(each, name)).find((each) => each !== undefined)
}

/** A member of an object, or a binding of a pattern, that moves into a nested one. */
interface MovedPart {
  readonly part: ts.Node
  /** The range of its value, or of what it is bound to. */
  readonly value: readonly [start: number, end: number]
  readonly to: readonly string[]
  readonly change?: string
}

/** Moves parts into nested objects: into one that is there, or all into the same new one. */
function moveParts(context: FileContext, parts: readonly ts.Node[], moves: readonly MovedPart[]): void {
  const { ts, file } = context
  const groups = new Map<string, MovedPart[]>()
  for (const move of moves) {
    const path = move.to.slice(0, -1).join('.')
    groups.set(path, [...(groups.get(path) ?? []), move])
  }
  const removed = new Map<ts.Node, string | undefined>()
  for (const group of groups.values()) {
    const [first, ...others] = group
    const { part, change } = first!
    const parents = first!.to.slice(0, -1)
    const moved = group.flatMap(({ value, to }, index): SourceEdit['parts'] => {
      const name = to.at(-1)!
      const isShort = file.text.slice(...value) === name
      return [`${index === 0 ? '' : ', '}${isShort ? '' : `${keyOf(context, name)}: `}`, value]
    })
    const nested = parts.find(
      (each): each is ts.PropertyAssignment =>
        ts.isPropertyAssignment(each) && parents.length === 1 && each.name.getText(file) === parents[0],
    )?.initializer
    if (nested && !ts.isObjectLiteralExpression(nested)) {
      context.mark(part, change)
      continue
    }
    for (const each of nested ? group : others) removed.set(each.part, each.change)
    if (nested) insertMember(context, change, nested, moved)
    else {
      const opened = parents.map((name) => `${keyOf(context, name)}: { `).join('')
      context.edit(change, part.getStart(file), part.end, opened, ...moved, ' }'.repeat(parents.length))
    }
  }
  removeParts(context, parts, removed)
}

/** @param removed the parts to remove, each with the change that the removal follows. */
function removeParts(
  { file, edit }: FileContext,
  parts: readonly ts.Node[],
  removed: ReadonlyMap<ts.Node, string | undefined>,
): void {
  const lastKept = parts.findLastIndex((part) => !removed.has(part))
  for (const [index, part] of parts.entries()) {
    if (!removed.has(part)) continue
    const next = parts[index + 1]
    if (next && index < lastKept) edit(removed.get(part), part.getStart(file), next.getStart(file))
    else {
      // The last ones go together, with the comma before them.
      const start = lastKept < 0 ? part.getStart(file) : parts[lastKept]!.end
      return edit(removed.get(part), start, parts.at(-1)!.end)
    }
  }
}

/** Adds a member after the last one, on a line of its own if that has one. */
function insertMember(
  { file, newline, edit }: FileContext,
  change: string | undefined,
  object: ts.ObjectLiteralExpression,
  parts: SourceEdit['parts'],
): void {
  const last = object.properties.at(-1)
  if (!last) return edit(change, object.getStart(file) + 1, object.getStart(file) + 1, ' ', ...parts, ' ')
  const line = file.text.lastIndexOf('\n', last.getStart(file)) + 1
  const indentation = file.text.slice(line, last.getStart(file))
  const onOwnLine = line > object.getStart(file) && /^\s*$/.test(indentation)
  edit(change, last.end, last.end, onOwnLine ? `,${newline}${indentation}` : ', ', ...parts)
}

function addMember(
  context: FileContext,
  object: ts.ObjectLiteralExpression,
  { name, value, change }: Extract<SiteRule, { kind: 'add' }>,
): void {
  const { ts, checker, sites } = context
  const holds = (type: ts.Type) =>
    checker.getPropertyOfType(type, name) !== undefined || isObjectNeeding(sites.ofObject(type))
  const isObjectNeeding = (roots: readonly string[]) =>
    rulesOf(context, roots).some((rule) => rule.kind === 'add' && rule.name === name)
  const known = object.properties.some((member) =>
    ts.isSpreadAssignment(member)
      ? holds(checker.getTypeAtLocation(member.expression))
      : member.name?.getText(context.file).replaceAll(/^['"]|['"]$/g, '') === name,
  )
  if (known) return
  if (object.properties.some(ts.isSpreadAssignment)) return context.mark(object, change)
  insertMember(context, change, object, [`${keyOf(context, name)}: ${literalOf(context, value)}`])
}

// ----- Names of types and functions -----

function upgradeIndexedType(context: FileContext, node: ts.IndexedAccessTypeNode): void {
  const { ts, checker, file, step } = context
  const { indexType } = node
  if (!ts.isLiteralTypeNode(indexType) || !ts.isStringLiteral(indexType.literal)) return
  const { literal } = indexType
  const owner = checker.getNonNullableType(checker.getTypeFromTypeNode(node.objectType))
  const property = checker.getPropertyOfType(owner, literal.text)
  if (!property) return
  const isOperations = owner.symbol?.name === 'operations' && isOfVersion(context, owner.symbol)
  const renamed = isOperations ? renamedOperation(step, literal.text) : undefined
  if (renamed)
    context.edit(renamed.change, literal.getStart(file), literal.end, literalOf(context, renamed.to))
  const schema = Object.hasOwn(step.schemas, literal.text) ? step.schemas[literal.text] : undefined
  const holder = property.declarations?.[0]?.parent.parent
  if (schema !== undefined && holder && ts.isPropertySignature(holder) && isOfVersion(context, property))
    context.edit(undefined, literal.getStart(file), literal.end, literalOf(context, schema))
  for (const rule of propertyRules(context, property, owner)) {
    if (rule.kind === 'rename')
      context.edit(rule.change, literal.getStart(file), literal.end, literalOf(context, rule.to))
    else if (rule.kind === 'move' && rule.from.length === 1)
      context.edit(
        rule.change,
        literal.getStart(file),
        literal.end,
        rule.to.map((name) => literalOf(context, name)).join(']['),
      )
    else if (rule.kind === 'look' || rule.kind === 'move') context.mark(node, rule.change)
  }
}

const renamedOperation = ({ operations }: UpgradeStep, id: string): Renaming | undefined =>
  operations[id]?.find((rule) => rule.kind === 'rename')

/** Renames types of components, and what is named after an operation: its function, its types, and its options. */
function upgradeName(context: FileContext, node: ts.Identifier): void {
  const { checker, file, step } = context
  const schema = Object.hasOwn(step.schemas, node.text) ? step.schemas[node.text] : undefined
  if (schema !== undefined && isOfVersion(context, checker.getSymbolAtLocation(node)))
    context.edit(undefined, node.getStart(file), node.end, schema)
  for (const [id, rules] of Object.entries(step.operations)) {
    const rule = rules.find(({ kind }) => kind === 'rename')
    const to = rule && renamedAfter(node.text, id, rule)
    if (to === undefined || !isOfVersion(context, checker.getSymbolAtLocation(node))) continue
    context.edit(rule?.change, node.getStart(file), node.end, to)
  }
}

/** Returns the new form of a name that consists of an operation's id and what it is; undefined for other names. */
function renamedAfter(name: string, id: string, rule: OperationRule): string | undefined {
  if (rule.kind !== 'rename') return undefined
  const typeOf = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
  if (name.startsWith(id) && /^(\w*Options)?$/.test(name.slice(id.length)))
    return rule.to + name.slice(id.length)
  const kind = name.slice(id.length)
  const isType = name.startsWith(typeOf(id)) && /^(Input|Query|Body|Answer)$/.test(kind)
  return isType ? typeOf(rule.to) + kind : undefined
}

const aliased = ({ ts, checker }: FileContext, symbol: ts.Symbol | undefined): ts.Symbol | undefined =>
  symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol

/** Returns whether the package declares a name for the older version. */
function isOfVersion(context: FileContext, symbol: ts.Symbol | undefined): boolean {
  const folder = context.types.fileName.replace(/[^/]+$/, '')
  const declarations = aliased(context, symbol)?.declarations ?? []
  return declarations.some((each) => each.getSourceFile().fileName.startsWith(folder))
}

/** Returns the operation whose function a name is. */
function operationOf(context: FileContext, symbol: ts.Symbol | undefined): string | undefined {
  const own = aliased(context, symbol)
  return own && isOfVersion(context, own) && Object.hasOwn(context.step.operations, own.name)
    ? own.name
    : undefined
}

// ----- Calls -----

function upgradeCall(context: FileContext, call: ts.CallExpression): void {
  const { ts, checker, step } = context
  const callee = ts.isPropertyAccessExpression(call.expression) ? call.expression.name : call.expression
  const symbol = checker.getSymbolAtLocation(callee)
  const id = operationOf(context, symbol)
  for (const rule of (id === undefined ? undefined : step.operations[id]) ?? []) {
    if (rule.kind === 'look') context.mark(call, rule.change)
    else if (rule.kind === 'add-parameter') addParameter(context, call, rule)
    else if (rule.kind === 'status' && readsResponse(ts, call)) context.mark(call, rule.change)
  }
  const [argument] = call.arguments
  const name = call.expression.getText(context.file)
  if (argument && /^Object\.(keys|values|entries)$/.test(name)) markComputed(context, argument, call)
  if (argument && name === 'JSON.stringify' && isDeeplyAffected(context, checker.getTypeAtLocation(argument)))
    context.warn(call, looseReason(context))
}

/** Marks a function of an operation that is used without a call, whose calls are elsewhere. */
function markOperation(context: FileContext, symbol: ts.Symbol, at: ts.Node): void {
  const id = operationOf(context, symbol)
  for (const { kind, change } of (id === undefined ? undefined : context.step.operations[id]) ?? [])
    if (kind !== 'rename') context.mark(at, change)
}

const readsResponse = (ts: TypeScriptCompiler, { parent }: ts.Node): boolean =>
  ts.isPropertyAccessExpression(parent) && parent.name.text === 'withResponse'

function addParameter(
  context: FileContext,
  call: ts.CallExpression,
  { in: where, name, value, change }: Extract<OperationRule, { kind: 'add-parameter' }>,
): void {
  const { ts, checker, file } = context
  const member = `${keyOf(context, name)}: ${literalOf(context, value)}`
  const index = ts.isPropertyAccessExpression(call.expression) ? 0 : 1
  const input = call.arguments[index]
  if (!input) {
    const at = call.end - 1
    return context.edit(change, at, at, index === 0 ? '' : ', ', `{ ${where}: { ${member} } }`)
  }
  if (!ts.isObjectLiteralExpression(input)) {
    const group = checker.getPropertyOfType(checker.getTypeAtLocation(input), where)
    const has = group && checker.getPropertyOfType(checker.getTypeOfSymbolAtLocation(group, input), name)
    return has ? undefined : context.mark(call, change)
  }
  const given = input.properties.find((each) => each.name?.getText(file) === where)
  if (!given) return insertMember(context, change, input, [`${where}: { ${member} }`])
  if (!ts.isPropertyAssignment(given) || !ts.isObjectLiteralExpression(given.initializer))
    return context.mark(call, change)
  addMember(context, given.initializer, { kind: 'add', name, value, ...(change !== undefined && { change }) })
}

// ----- Text -----

/** Upgrades module names, members of enumerations, versions and headers. */
function upgradeText(context: FileContext, node: ts.StringLiteral | ts.NoSubstitutionTemplateLiteral): void {
  const { ts, step, file, package: name } = context
  const { text } = node
  const own = `${name}/${step.from}`
  if (text === own || text.startsWith(`${own}/`))
    return context.edit(
      undefined,
      node.getStart(file) + 1,
      node.end - 1,
      `${name}/${step.to}${text.slice(own.length)}`,
    )
  if (text === step.from) {
    const isCompared = isComparedVersion(context, node)
    if (isCompared)
      context.warn(
        node,
        `deliveries stay in ${context.from} until their endpoint or account moves to ${context.to}`,
      )
    if (isCompared || isVersion(context, node))
      return context.edit(undefined, node.getStart(file) + 1, node.end - 1, step.to)
  }
  for (const { from, change } of step.headers)
    if (text.toLowerCase() === from.toLowerCase()) context.mark(node, change)
  if (ts.isLiteralTypeNode(node.parent)) renamePicked(context, node)
  const members = rulesOf(context, sitesOfText(context, node)).filter((rule) => rule.kind === 'members')
  for (const rule of members) {
    renameMember(context, rule, node, text)
    if (comparedWith(ts, node) && Object.hasOwn(rule.split, text)) context.mark(node, rule.change)
  }
  if (members.length === 0 && isCompound(text) && isPlainText(context, node)) noteText(context, node)
}

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
function noteText(context: FileContext, node: ts.StringLiteralLike): void {
  const rules = Object.values(context.step.sites).flat()
  const rule = rules.find((each) => each.kind === 'members' && Object.hasOwn(each.rename, node.text))
  if (rule?.kind === 'members')
    context.note(node, `'${node.text}' may be what is now '${rule.rename[node.text]}': no type says so`)
}

/** Renames a property in `Pick<Book, 'color'>` and the like. */
function renamePicked(context: FileContext, node: ts.StringLiteralLike): void {
  const { ts, checker, file } = context
  const argument = ts.isUnionTypeNode(node.parent.parent) ? node.parent.parent : node.parent
  const { parent } = argument
  if (!ts.isTypeReferenceNode(parent)) return
  for (const other of parent.typeArguments ?? []) {
    if (other === argument) continue
    const owner = checker.getTypeFromTypeNode(other)
    const property = checker.getPropertyOfType(owner, node.text)
    for (const rule of property ? propertyRules(context, property, owner) : [])
      if (rule.kind === 'rename')
        context.edit(rule.change, node.getStart(file), node.end, literalOf(context, rule.to))
      else if (rule.kind === 'move' || rule.kind === 'look') context.mark(node, rule.change)
  }
}

function renameMember(
  context: FileContext,
  { rename, split, change }: Extract<SiteRule, { kind: 'members' }>,
  node: ts.Node,
  text: string,
): void {
  const { ts, file } = context
  const to = Object.hasOwn(rename, text) ? rename[text] : undefined
  const isKey = ts.isObjectLiteralElement(node.parent) || ts.isPropertyAccessExpression(node.parent)
  if (to === undefined) {
    if (isKey && Object.hasOwn(split, text)) context.mark(node, change)
  } else if (ts.isIdentifier(node) && ts.isPropertyAccessExpression(node.parent))
    renameAccess(context, node.parent, node, { to, ...(change !== undefined && { change }) })
  else if (ts.isIdentifier(node)) context.edit(change, node.getStart(file), node.end, keyOf(context, to))
  else context.edit(change, node.getStart(file), node.end, literalOf(context, to))
}

/** Returns whether a text is a version of the package: an argument of `at`, or one of its types. */
function isVersion(context: FileContext, node: ts.Node): boolean {
  const { ts, checker, types } = context
  const root = types.fileName.replace(/[^/]+\/[^/]+$/, '')
  const isOurs = (symbol: ts.Symbol | undefined) =>
    aliased(context, symbol)?.declarations?.some((each) => each.getSourceFile().fileName.startsWith(root)) ??
    false
  const { parent } = node
  if (ts.isCallExpression(parent) && ts.isPropertyAccessExpression(parent.expression))
    return isOurs(checker.getSymbolAtLocation(parent.expression.name))
  if (!ts.isLiteralTypeNode(parent)) return false
  const outer = parent.parent
  if (ts.isTypeReferenceNode(outer)) return isOurs(checker.getSymbolAtLocation(outer.typeName))
  return (
    ts.isIndexedAccessTypeNode(outer) &&
    ts.isTypeReferenceNode(outer.objectType) &&
    isOurs(checker.getSymbolAtLocation(outer.objectType.typeName))
  )
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

/** Returns what a value is compared with, by an operator or a case. */
function comparedWith(ts: TypeScriptCompiler, node: ts.Node): ts.Expression | undefined {
  const { parent } = node
  if (ts.isCaseClause(parent)) return parent.parent.parent.expression
  if (!ts.isBinaryExpression(parent)) return undefined
  const operator = ts.tokenToString(parent.operatorToken.kind) ?? ''
  if (!/^[!=]==?$/.test(operator)) return undefined
  return parent.left === node ? parent.right : parent.left
}

/** Returns the sites of the enumerations that a text is a member of. */
function sitesOfText(context: FileContext, node: ts.StringLiteralLike): readonly string[] {
  const { ts, checker, sites } = context
  const { parent } = node
  if (ts.isLiteralTypeNode(parent)) {
    if (!ts.isTypeReferenceNode(parent.parent) && !ts.isUnionTypeNode(parent.parent)) return []
    const reference = ts.isUnionTypeNode(parent.parent) ? parent.parent.parent : parent.parent
    if (!ts.isTypeReferenceNode(reference)) return []
    return (reference.typeArguments ?? []).flatMap((each) => sites.ofType(checker.getTypeFromTypeNode(each)))
  }
  const other = comparedWith(ts, node)
  return other ? sitesOfExpression(context, other) : sitesExpected(context, node)
}

/** Returns the sites of the enumeration that an expression is expected to be a member of. */
function sitesExpected(context: FileContext, node: ts.Expression): readonly string[] {
  const { ts, checker, sites } = context
  const { parent } = node
  const byType = sites.ofType(checker.getContextualType(node))
  if (ts.isPropertyAssignment(parent) && ts.isObjectLiteralExpression(parent.parent)) {
    const owner = checker.getContextualType(parent.parent)
    const property =
      owner && (ts.isIdentifier(parent.name) || ts.isStringLiteral(parent.name))
        ? propertyIn(context, checker.getNonNullableType(owner), parent.name.text)
        : undefined
    return property ? [...byType, ...sites.ofValues(property)] : byType
  }
  if (
    ts.isConditionalExpression(parent) ||
    ts.isParenthesizedExpression(parent) ||
    ts.isArrayLiteralExpression(parent)
  )
    return [...byType, ...sitesExpected(context, parent)]
  return byType
}

/** Returns the sites of the enumeration that an expression holds a member of. */
function sitesOfExpression(context: FileContext, expression: ts.Expression): readonly string[] {
  const { ts, checker, sites } = context
  const byType = sites.ofType(checker.getNonNullableType(checker.getTypeAtLocation(expression)))
  const own = ts.isParenthesizedExpression(expression) || ts.isNonNullExpression(expression)
  if (own) return sitesOfExpression(context, expression.expression)
  const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression
  const symbol = checker.getSymbolAtLocation(name)
  if (!symbol) return byType
  const declaration = symbol.valueDeclaration
  // A condition before this place may have left fewer members of the type, but not of its declaration.
  const declared = declaration ? sites.ofType(checker.getTypeOfSymbolAtLocation(symbol, declaration)) : []
  const from = declaration && ts.isVariableDeclaration(declaration) ? declaration.initializer : undefined
  const written =
    declaration && (ts.isVariableDeclaration(declaration) || ts.isParameter(declaration))
      ? sites.ofNode(declaration.type)
      : []
  return [
    ...byType,
    ...declared,
    ...written,
    ...sites.ofValues(symbol),
    ...(declaration && ts.isBindingElement(declaration) ? sitesOfElement(context, declaration) : []),
    ...(from && from !== expression ? sitesOfExpression(context, from) : []),
  ]
}

function sitesOfElement(context: FileContext, element: ts.BindingElement): readonly string[] {
  const { ts, checker, sites } = context
  const key = element.propertyName ?? element.name
  if (!ts.isIdentifier(key)) return []
  const owner = checker.getNonNullableType(checker.getTypeAtLocation(element.parent))
  const property = propertyIn(context, owner, key.text)
  return property ? sites.ofValues(property) : []
}

// ----- What types do not show -----

const isLoose = (ts: TypeScriptCompiler, { flags }: ts.Type): boolean =>
  (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0

const isNullable = (ts: TypeScriptCompiler, type: ts.Type): boolean =>
  type.isUnion() && type.types.some(({ flags }) => flags & ts.TypeFlags.Null)

const looseReason = ({ from }: FileContext): string =>
  `no type follows this value: what is in the form of ${from} stays in it`

/** Marks code that finds properties by names that are not in the source. */
function markComputed(context: FileContext, value: ts.Expression, at: ts.Node): void {
  const { checker, sites } = context
  const type = checker.getNonNullableType(checker.getTypeAtLocation(value))
  const roots = sites.ofType(type)
  const isRenamed = rulesBelow(context, roots).some(({ kind }) => kind !== 'members')
  if (isRenamed) context.warn(at, 'names of properties are computed here, and some have changed')
}

const rulesBelow = ({ step }: FileContext, roots: readonly string[]): readonly SiteRule[] =>
  Object.entries(step.sites).flatMap(([site, rules]) =>
    roots.some((root) => site.startsWith(`${root}.`)) ? rules : [],
  )

function upgradeAssertion(context: FileContext, node: ts.AssertionExpression): void {
  const { ts, checker } = context
  const [from, to] = [checker.getTypeAtLocation(node.expression), checker.getTypeFromTypeNode(node.type)]
  const isLost = isLoose(ts, to) && isDeeplyAffected(context, from)
  const isClaimed = isLoose(ts, from) && isDeeplyAffected(context, to)
  if (isLost || isClaimed) context.warn(node, looseReason(context))
}

function upgradeVariable(context: FileContext, { type, initializer }: ts.VariableDeclaration): void {
  const { ts, checker } = context
  if (!type || !initializer) return
  const [from, to] = [checker.getTypeAtLocation(initializer), checker.getTypeFromTypeNode(type)]
  if (isLoose(ts, to) ? isDeeplyAffected(context, from) : isLoose(ts, from) && isDeeplyAffected(context, to))
    context.warn(initializer, looseReason(context))
}

const DEPTH = 6

/** Returns whether a rule is about a type, or about what its properties hold. */
function isDeeplyAffected(
  context: FileContext,
  type: ts.Type,
  depth = DEPTH,
  seen = new Set<ts.Type>(),
): boolean {
  const { checker, sites } = context
  if (seen.has(type) || depth === 0) return false
  seen.add(type)
  if (isAffected(context, sites.ofType(type))) return true
  const inside = (each: ts.Type) => isDeeplyAffected(context, each, depth - 1, seen)
  if (type.isUnionOrIntersection()) return type.types.some(inside)
  const item = checker.getIndexTypeOfType(type, context.ts.IndexKind.Number)
  if (item) return inside(item)
  return type.getProperties().some((property) => {
    const declared = property.declarations?.some((each) => each.getSourceFile() === context.types)
    return (
      declared === true &&
      (rulesOf(context, sites.ofValues(property)).length > 0 || inside(checker.getTypeOfSymbol(property)))
    )
  })
}
