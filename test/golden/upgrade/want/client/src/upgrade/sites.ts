// @ts-nocheck
/** Finds the sites that the documents declare for what a program uses, by the declarations of its types. */
import type { ts } from 'ts-morph'

/** The compiler's functions. ts-morph brings its own compiler, so that the one of the project does not matter. */
export type TypeScriptCompiler = typeof ts

export interface Sites {
  /** Sites of a property, by where its type declares it. */
  ofProperty(property: ts.Symbol): readonly string[]
  /** Sites of the values that a property holds: its own, and that of the type that it refers to. */
  ofValues(property: ts.Symbol): readonly string[]
  /** Sites of the components, queries and bodies that a type is, or is made of: `Partial<Book>` is made of `Book`. */
  ofType(type: ts.Type | undefined): readonly string[]
  /** Sites of the components, queries and bodies that a type is. */
  ofObject(type: ts.Type | undefined): readonly string[]
  /** Sites of the components, queries and bodies that a type node names, in its arguments too. */
  ofNode(node: ts.TypeNode | undefined): readonly string[]
  /** Sites of the enumerations that are the keys of a table such as `Record<Status, string>`. */
  ofKeys(type: ts.Type | undefined): readonly string[]
}

const OWNERS: ReadonlySet<string> = new Set(['components', 'operations', 'webhooks'])

/**
 * @param types the file of the client package that declares the types of one version.
 */
export function createSites(ts: TypeScriptCompiler, checker: ts.TypeChecker, types: ts.SourceFile): Sites {
  const rootsOfAlias = indexAliases(ts, types)

  /** Returns the names on the way to a node from the alias or interface that declares it. */
  function pathOf(declaration: ts.Node): readonly [owner: string, names: readonly string[]] | undefined {
    const names: string[] = []
    for (let node: ts.Node = declaration; node.parent; node = node.parent) {
      if (ts.isPropertySignature(node)) names.unshift(nameOf(ts, node.name))
      if (ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node)) return [node.name.text, names]
    }
    return undefined
  }

  function sitesOf(declaration: ts.Node): readonly string[] {
    if (declaration.getSourceFile() !== types) return []
    const [owner, names] = pathOf(declaration) ?? ['', []]
    if (owner === 'operations') {
      const [root, rest] = operationSite(names)
      return root === undefined ? [] : [[root, ...rest].join('.')]
    }
    return (rootsOfAlias.get(owner) ?? []).map((root) => [root, ...names].join('.'))
  }

  const ofProperty = (property: ts.Symbol): string[] => (property.declarations ?? []).flatMap(sitesOf)

  function ofValues(property: ts.Symbol): string[] {
    const referred = (property.declarations ?? []).flatMap((declaration) =>
      ts.isPropertySignature(declaration) && declaration.getSourceFile() === types
        ? referencesIn(declaration.type)
        : [],
    )
    return [...ofProperty(property), ...referred.flatMap((name) => rootsOfAlias.get(name) ?? [])]
  }

  /** Returns the types that a type node names, as a value, a list or a nullable value. */
  function referencesIn(node: ts.TypeNode | undefined): string[] {
    if (!node) return []
    if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) return [node.typeName.text]
    if (ts.isUnionTypeNode(node)) return node.types.flatMap(referencesIn)
    if (ts.isArrayTypeNode(node)) return referencesIn(node.elementType)
    return ts.isParenthesizedTypeNode(node) ? referencesIn(node.type) : []
  }

  function findIn(type: ts.Type | undefined, isDirect: boolean, seen = new Set<ts.Type>()): string[] {
    if (!type || seen.has(type)) return []
    seen.add(type)
    const alias = type.aliasSymbol
    if (alias?.declarations?.some((each) => each.getSourceFile() === types)) {
      const roots = rootsOfAlias.get(alias.name)
      if (roots) return [...roots]
    }
    // A union that allows undefined too remembers the union that it was made of, but does not declare that it does.
    const { origin } = type as ts.Type & { readonly origin?: ts.Type }
    // The program's own name for a type hides what the type is made of.
    const named = isDirect ? [] : (alias?.declarations ?? []).filter(ts.isTypeAliasDeclaration)
    const parts = [
      ...named.flatMap(({ type: node }) => partsOf(node)),
      ...(isDirect ? [] : (type.aliasTypeArguments ?? [])),
      ...(origin ? [origin] : []),
      ...(type.isUnionOrIntersection() ? type.types.filter((each) => !each.isLiteral()) : []),
    ]
    return [...new Set(parts.flatMap((each) => findIn(each, isDirect, seen)))]
  }

  /** Returns the types that a type node names, and those of its arguments. */
  function partsOf(node: ts.TypeNode): ts.Type[] {
    const inside = ts.isTypeReferenceNode(node)
      ? (node.typeArguments ?? [])
      : ts.isUnionTypeNode(node)
        ? node.types
        : []
    return [checker.getTypeFromTypeNode(node), ...inside.flatMap(partsOf)]
  }

  const ofNode = (node: ts.TypeNode | undefined) =>
    node ? partsOf(node).flatMap((each) => ofType(each)) : []
  const ofType = (type: ts.Type | undefined) => findIn(type, false)
  const ofObject = (type: ts.Type | undefined) => findIn(type, true)

  function ofKeys(type: ts.Type | undefined): string[] {
    if (!type) return []
    const [first] = type.aliasTypeArguments ?? []
    if (type.aliasSymbol?.name === 'Record') return ofType(first)
    if (first) return ofKeys(first)
    const mapped = type.symbol?.declarations?.find(ts.isMappedTypeNode)
    const constraint = mapped?.typeParameter.constraint
    return constraint ? ofType(checker.getTypeFromTypeNode(constraint)) : []
  }

  return { ofProperty, ofValues, ofType, ofObject, ofNode, ofKeys }
}

const nameOf = (ts: TypeScriptCompiler, name: ts.PropertyName): string =>
  ts.isIdentifier(name) || ts.isStringLiteral(name) || ts.isNumericLiteral(name) ? name.text : name.getText()

/**
 * Returns the site of a path in `operations`, and the names below it: `getBook`, `responses`, `200`, `content`,
 * `application/json`, `author` is `getBook 200` and `author`.
 */
function operationSite(
  names: readonly string[],
): readonly [root: string | undefined, rest: readonly string[]] {
  const [id, part, where, ...rest] = names
  if (part === 'parameters') return [`${id} ${where}`, rest]
  if (part === 'requestBody') return [`${id} body`, rest.slice(1)]
  return part === 'responses' ? [`${id} ${where}`, rest.slice(2)] : [undefined, []]
}

/** Returns the sites of each type alias: its component, or the operations that refer to it. */
function indexAliases(ts: TypeScriptCompiler, types: ts.SourceFile): ReadonlyMap<string, readonly string[]> {
  const roots = new Map<string, string[]>()
  const add = (alias: string, root: string) => roots.set(alias, [...(roots.get(alias) ?? []), root])
  const eventOf = new Map<string, string>()
  const owners = new Map(
    types.statements.flatMap((each) =>
      ts.isInterfaceDeclaration(each) && OWNERS.has(each.name.text) ? [[each.name.text, each]] : [],
    ),
  )
  walk(owners.get('webhooks'), [], (reference, [event = '']) => {
    if (reference !== undefined) eventOf.set(reference, event)
  })
  walk(owners.get('components'), [], (alias, [, schema]) => {
    if (alias !== undefined && schema !== undefined) add(alias, schema)
  })
  walk(owners.get('operations'), [], (alias, names) => {
    const [root, rest] = operationSite(names)
    // Components have their own sites.
    if (alias === undefined || root === undefined || rest.length > 0) return
    const event = eventOf.get(names[0]!)
    if (!roots.get(alias)?.some((each) => !each.includes(' ')))
      add(alias, event !== undefined && root.endsWith(' body') ? `event ${event}` : root)
  })
  return roots

  /** Calls `found` with each reference to an alias, or to an operation, and the names on the way to it. */
  function walk(
    node: ts.Node | undefined,
    names: readonly string[],
    found: (reference: string | undefined, names: readonly string[]) => void,
  ): void {
    if (!node) return
    if (ts.isPropertySignature(node)) {
      const path = [...names, nameOf(ts, node.name)]
      if (node.type && ts.isTypeReferenceNode(node.type)) found(node.type.typeName.getText(), path)
      else if (node.type && ts.isIndexedAccessTypeNode(node.type)) {
        const { indexType } = node.type
        if (ts.isLiteralTypeNode(indexType) && ts.isStringLiteral(indexType.literal))
          found(indexType.literal.text, path)
      } else node.type?.forEachChild((child) => walk(child, path, found))
      return
    }
    node.forEachChild((child) => walk(child, names, found))
  }
}
