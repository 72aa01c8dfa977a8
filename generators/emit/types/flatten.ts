/**
 * Flattens the nested types of openapi-typescript: each component, query and body becomes a type alias, so that
 * editors show its name. Members of type `never` are removed, and so are response headers, which `fetch` returns as
 * strings.
 */
import ts from 'typescript'
import { pascalCase } from '../../ir/naming.ts'
import { heading } from '../../print/literal.ts'
import { claimAll, createTypeNames } from './type-names.ts'

/** An operation of the document, with its id in generated code. */
export interface TypedOperation {
  readonly id: string
  readonly root: 'paths' | 'webhooks'
  /** For a webhook, the name of the event. */
  readonly path: string
  /** In lowercase. */
  readonly method: string
}

const { factory } = ts
type Members = ReadonlyMap<string, ts.PropertySignature>
/** `components["schemas"]["Book"]` → `components`, `schemas`, `Book`. */
type Reference = readonly string[]

/** @param nodes the statements that openapi-typescript generates from a document whose operations have no ids. */
export function flatten(nodes: readonly ts.Node[], operations: readonly TypedOperation[]): ts.Node[] {
  const membersByNode = new WeakMap<ts.TypeNode, Members>()
  const roots = new Map<string, ts.TypeNode>()
  const others: ts.Node[] = []
  for (const node of nodes) {
    if (ts.isInterfaceDeclaration(node))
      roots.set(node.name.text, factory.createTypeLiteralNode(node.members))
    else if (ts.isTypeAliasDeclaration(node) && ROOTS.has(node.name.text))
      roots.set(node.name.text, node.type)
    else others.push(node)
  }

  const schemas = membersOf(find(['components', 'schemas'])?.node)
  const names = createTypeNames()
  const nameOfSchema = claimAll(schemas.keys(), names)
  const aliases: ts.Node[] = []
  const aliasOfReference = new Map<string, string>()
  const refusals = new Map<string, string>()

  for (const [component, { type }] of schemas)
    alias(nameOfSchema.get(component)!, type!, schemas.get(component)!)
  const firstOfOperations = aliases.length
  const printedOperations = operations.map(({ id, root, path, method }): Entry => {
    const operation = membersOf(find([root, path, method])?.node)
    return [id, printOperation(pascalCase(id), operation)]
  })
  const printedEvents = operations
    .filter(({ root, method }) => root === 'webhooks' && method === 'post')
    .map(({ id, path }): Entry => [path, literal([['post', indexed(named('operations'), [id])]])])
  entitle(aliases[0], 'Schemas')
  if (firstOfOperations > 0) entitle(aliases[firstOfOperations], 'Queries, bodies and answers of operations')
  const components = [...nameOfSchema].map(([component, name]) => [component, named(name)] as const)
  return [
    ...aliases,
    declare('components', [['schemas', factory.createTypeLiteralNode(components.map(signature))]]),
    declare('operations', printedOperations),
    declare('webhooks', printedEvents),
    ...others,
  ]

  function printOperation(name: string, operation: Members): ts.TypeNode {
    const parameters = [...membersOf(operation.get('parameters')?.type)].map(([where, group]): Entry => {
      const type =
        where === 'query'
          ? declared(`${name}Query`, group.type!)
          : onOneLine(visit(group.type!) as ts.TypeNode)
      return [where, type, group.questionToken]
    })
    const body = operation.get('requestBody')
    const answers = [...membersOf(operation.get('responses')?.type)]
    return factory.createTypeLiteralNode(
      [
        ['parameters', literal(parameters)] as Entry,
        ['requestBody', body && printContents(`${name}Body`, body), body?.questionToken] as Entry,
        ['responses', printAnswers(name, answers)] as Entry,
      ].flatMap((entry) => (entry[1] ? [signature(entry)] : [])),
    )
  }

  /** Error statuses are grouped by their bodies, most of which are equal. */
  function printAnswers(
    name: string,
    answers: Iterable<readonly [string, ts.PropertySignature]>,
  ): ts.TypeNode {
    const successes: Entry[] = []
    const refusals = new Map<string, string[]>()
    for (const [status, answer] of answers) {
      if (/^2/.test(status)) successes.push([status, printContents(`${name}Answer`, answer)])
      else {
        const refusal = refusalNamed(printContents(`${name}Refusal`, answer))
        refusals.set(refusal, [...(refusals.get(refusal) ?? []), status])
      }
    }
    const groups = [...refusals].map(([refusal, statuses]) => {
      const union = factory.createUnionTypeNode(statuses.map(statusType))
      return factory.createTypeReferenceNode('Record', [union, named(refusal)])
    })
    return groups.length === 0
      ? literal(successes)
      : factory.createIntersectionTypeNode([literal(successes), ...groups])
  }

  function refusalNamed(contents: ts.TypeNode): string {
    const key = PRINTER.printNode(ts.EmitHint.Unspecified, contents, EMPTY_FILE)
    const name = refusals.get(key) ?? names.claim('Refusal')
    if (!refusals.has(key)) aliases.push(createAlias(name, contents))
    refusals.set(key, name)
    return name
  }

  /** Prints the bodies of a request or a response, by media type. */
  function printContents(name: string, { type }: ts.PropertySignature): ts.TypeNode {
    const contents = [...membersOf(membersOf(type).get('content')?.type)]
    if (contents.length === 0) return literal([])
    return literal([
      ['content', literal(contents.map(([media, each]) => [media, declared(name, each.type!)]))],
    ])
  }

  /** Returns the name of a type. A type without a name gets an alias. */
  function declared(name: string, type: ts.TypeNode): ts.TypeNode {
    const visited = visit(type) as ts.TypeNode
    if (!ts.isTypeLiteralNode(visited) && !ts.isUnionTypeNode(visited) && !ts.isIntersectionTypeNode(visited))
      return visited
    const claimed = names.claim(name)
    aliases.push(createAlias(claimed, visited))
    return named(claimed)
  }

  function alias(name: string, type: ts.TypeNode, documented: ts.Node): void {
    const at = aliases.push(createAlias(name, type)) - 1
    aliases[at] = withComments(createAlias(name, visit(type) as ts.TypeNode), documented)
  }

  /** Replaces references with type names. */
  function visit(node: ts.Node): ts.Node {
    const reference = referenceOf(node)
    return reference ? refer(reference) : ts.visitEachChild(node, visit, undefined)
  }

  function refer(reference: Reference): ts.TypeNode {
    const [root, kind, component = '', ...inside] = reference
    const schema = root === 'components' && kind === 'schemas' ? nameOfSchema.get(component) : undefined
    if (schema !== undefined) return indexed(named(schema), inside)
    const found = find(reference)
    if (!found?.member) return indexed(factory.createTypeReferenceNode(root!), reference.slice(1))
    const key = JSON.stringify(reference.slice(0, found.depth))
    let name = aliasOfReference.get(key)
    if (name === undefined) {
      name = names.claim(pascalCase(reference[found.depth - 1]!))
      aliasOfReference.set(key, name)
      alias(name, found.node, found.member)
    }
    return indexed(named(name), reference.slice(found.depth))
  }

  /** Follows a reference as far as members have names. */
  function find([root = '', ...path]: Reference):
    | { readonly node: ts.TypeNode; readonly member?: ts.PropertySignature; readonly depth: number }
    | undefined {
    let node = roots.get(root)
    let member: ts.PropertySignature | undefined
    let depth = 1
    for (const name of path) {
      const next = membersOf(node).get(name)
      if (!next) break
      member = next
      node = next.type
      depth++
    }
    return node && { node, depth, ...(member && { member }) }
  }

  /** Returns the members of a type by name, following references and leaving out those of type `never`. */
  function membersOf(node: ts.TypeNode | undefined): Members {
    if (!node) return new Map()
    const reference = referenceOf(node)
    if (reference) return membersOf(find(reference)?.node)
    const known = membersByNode.get(node)
    if (known) return known
    const all = ts.isTypeLiteralNode(node) ? node.members.filter(ts.isPropertySignature) : []
    const possible = all.filter(({ type }) => type?.kind !== ts.SyntaxKind.NeverKeyword)
    const members = new Map(possible.map((member) => [textOf(member.name), member]))
    membersByNode.set(node, members)
    return members
  }
}

const ROOTS: ReadonlySet<string> = new Set(['paths', 'webhooks', 'components', '$defs', 'operations'])

/** Returns undefined for a type that is not a reference into the document. */
function referenceOf(node: ts.Node): Reference | undefined {
  if (ts.isTypeReferenceNode(node))
    return ts.isIdentifier(node.typeName) && ROOTS.has(node.typeName.text) ? [node.typeName.text] : undefined
  if (!ts.isIndexedAccessTypeNode(node) || !ts.isLiteralTypeNode(node.indexType)) return undefined
  const outer = referenceOf(node.objectType)
  return outer && [...outer, (node.indexType.literal as ts.LiteralExpression).text]
}

const textOf = (name: ts.PropertyName): string => (name as ts.Identifier | ts.StringLiteral).text

const PRINTER = ts.createPrinter()
const EMPTY_FILE = ts.createSourceFile('', '', ts.ScriptTarget.ESNext)

const statusType = (status: string): ts.TypeNode =>
  factory.createLiteralTypeNode(
    /^\d+$/.test(status) ? factory.createNumericLiteral(status) : factory.createStringLiteral(status),
  )

const named = (name: string): ts.TypeNode => factory.createTypeReferenceNode(name)

const indexed = (type: ts.TypeNode, names: readonly string[]): ts.TypeNode =>
  names.reduce(
    (at, name) =>
      factory.createIndexedAccessTypeNode(
        at,
        factory.createLiteralTypeNode(factory.createStringLiteral(name)),
      ),
    type,
  )

type Entry = readonly [name: string, type: ts.TypeNode | undefined, optional?: ts.QuestionToken | undefined]

function signature([name, type, optional]: Entry): ts.PropertySignature {
  const key = /^(?:[A-Za-z_$][\w$]*|\d{3})$/.test(name) ? name : factory.createStringLiteral(name)
  return factory.createPropertySignature(undefined, key, optional, type)
}

/** Prints an object type on one line. */
const literal = (entries: readonly Entry[]): ts.TypeNode =>
  onOneLine(factory.createTypeLiteralNode(entries.filter(([, type]) => type !== undefined).map(signature)))

/** Removes comments on members with a named type, because that type has the comment. */
function onOneLine<Node extends ts.Node>(node: Node): Node {
  if (!ts.isTypeLiteralNode(node)) return node
  for (const member of node.members)
    if (ts.isPropertySignature(member) && member.type && ts.isTypeReferenceNode(member.type))
      ts.setSyntheticLeadingComments(member, undefined)
  const isDocumented = node.members.some((member) => ts.getSyntheticLeadingComments(member)?.length)
  return isDocumented ? node : ts.setEmitFlags(node, ts.EmitFlags.SingleLine)
}

const EXPORTED = [factory.createModifier(ts.SyntaxKind.ExportKeyword)]

const createAlias = (name: string, type: ts.TypeNode): ts.TypeAliasDeclaration =>
  factory.createTypeAliasDeclaration(EXPORTED, name, undefined, type)

const withComments = <Node extends ts.Node>(node: Node, documented: ts.Node): Node =>
  ts.setSyntheticLeadingComments(node, ts.getSyntheticLeadingComments(documented))

/** Puts the heading of a section in front of a statement. */
function entitle(statement: ts.Node | undefined, title: string): void {
  if (!statement) return
  const comments = ts.getSyntheticLeadingComments(statement) ?? []
  const line = {
    kind: ts.SyntaxKind.SingleLineCommentTrivia,
    text: heading(title).slice(2),
    pos: -1,
    end: -1,
  } as const
  ts.setSyntheticLeadingComments(statement, [{ ...line, hasTrailingNewLine: true }, ...comments])
}

const declare = (name: string, entries: readonly Entry[]): ts.InterfaceDeclaration =>
  factory.createInterfaceDeclaration(EXPORTED, name, undefined, undefined, entries.map(signature))
