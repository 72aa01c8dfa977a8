/** Merges new code into a source file; existing code stays unchanged. */
import {
  type ArrayLiteralExpression,
  type Expression,
  Node,
  type NoSubstitutionTemplateLiteral,
  type ObjectLiteralExpression,
  Project,
  type SourceFile,
} from 'ts-morph'

/**
 * Copies imports, members of objects and lists, lines of template strings and whole statements from `addition` that
 * `text` lacks. Variables and functions are matched by name.
 *
 * @param without an object in `text`, and the members to remove from it.
 */
export function mergeSource(
  text: string,
  addition: string,
  without?: { readonly object: string; readonly members: readonly string[] },
): string {
  const project = new Project({ useInMemoryFileSystem: true, skipLoadingLibFiles: true })
  const target = project.createSourceFile('target.ts', text)
  const from = project.createSourceFile('addition.ts', addition)
  mergeImports(target, from)
  for (const statement of from.getStatements()) {
    if (Node.isImportDeclaration(statement)) continue
    if (Node.isVariableStatement(statement)) {
      for (const declaration of statement.getDeclarations()) {
        const known = target.getVariableDeclaration(declaration.getName())
        if (!known) addStatement(target, from, statement.getFullText().trim())
        else mergeValues(literalOf(known.getInitializer()), literalOf(declaration.getInitializer()))
      }
      continue
    }
    const name = 'getName' in statement ? (statement.getName as () => string | undefined)() : undefined
    const stands = target
      .getStatements()
      .some((each) => 'getName' in each && (each.getName as () => string | undefined)() === name)
    if (!stands) target.addStatements(statement.getFullText().trimStart())
  }
  if (without) {
    const object = literalOf(target.getVariableDeclaration(without.object)?.getInitializer())
    if (Node.isObjectLiteralExpression(object))
      for (const member of without.members) object.getProperty(member)?.remove()
  }
  return target.getFullText()
}

/**
 * Inserts a statement before the first variable that both files declare, because that may use it; otherwise appends
 * it.
 */
function addStatement(target: SourceFile, from: SourceFile, text: string): void {
  const shared = target
    .getVariableStatements()
    .find((each) => each.getDeclarations().some((own) => from.getVariableDeclaration(own.getName())))
  if (shared) target.insertStatements(shared.getChildIndex(), `\n${text}\n`)
  else target.addStatements(text)
}

function mergeImports(target: SourceFile, from: SourceFile): void {
  for (const added of from.getImportDeclarations()) {
    const specifier = added.getModuleSpecifierValue()
    const known = target
      .getImportDeclarations()
      .filter((each) => each.getModuleSpecifierValue() === specifier)
    const names = new Set(known.flatMap((each) => each.getNamedImports().map((named) => named.getName())))
    const missing = added.getNamedImports().filter((named) => !names.has(named.getName()))
    const fitting = known.find((each) => each.isTypeOnly() === added.isTypeOnly())
    if (fitting) fitting.addNamedImports(missing.map((named) => named.getText()))
    else if (missing.length > 0) {
      const names = missing.map((named) => named.getText())
      target.addImportDeclaration({
        moduleSpecifier: specifier,
        namedImports: names,
        isTypeOnly: added.isTypeOnly(),
      })
    }
  }
}

type Literal = ObjectLiteralExpression | ArrayLiteralExpression | NoSubstitutionTemplateLiteral

/**
 * Returns the literal that initializes a variable, without `as const`, `satisfies`, `new Map()` or calls such as
 * `.trim()` around it.
 */
function literalOf(value: Expression | undefined): Literal | undefined {
  if (Node.isAsExpression(value) || Node.isSatisfiesExpression(value)) return literalOf(value.getExpression())
  if (Node.isNewExpression(value)) return literalOf(value.getArguments()[0] as Expression | undefined)
  if (Node.isCallExpression(value)) return literalOf(value.getExpression())
  if (Node.isPropertyAccessExpression(value)) return literalOf(value.getExpression())
  const isLiteral =
    Node.isObjectLiteralExpression(value) ||
    Node.isArrayLiteralExpression(value) ||
    Node.isNoSubstitutionTemplateLiteral(value)
  return isLiteral ? value : undefined
}

function mergeValues(target: Literal | undefined, from: Literal | undefined): void {
  if (Node.isObjectLiteralExpression(target) && Node.isObjectLiteralExpression(from)) {
    const known = new Map(target.getProperties().map((property) => [nameOf(property), property]))
    const missing = from.getProperties().filter((property) => !known.has(nameOf(property)))
    for (const property of from.getProperties())
      mergeValues(memberOf(known.get(nameOf(property))), memberOf(property))
    if (missing.length > 0) {
      const trailing = target.getProperties().length
      target.insertProperties(
        trailing,
        missing.map((property) => property.getText()),
      )
    }
  }
  if (Node.isArrayLiteralExpression(target) && Node.isArrayLiteralExpression(from)) {
    const known = new Set(target.getElements().map(plain))
    const missing = from.getElements().filter((each) => !known.has(plain(each)))
    if (missing.length > 0) target.addElements(missing.map((each) => each.getText()))
  }
  if (Node.isNoSubstitutionTemplateLiteral(target) && Node.isNoSubstitutionTemplateLiteral(from)) {
    const lines = target.getLiteralText().split('\n')
    const missing = from
      .getLiteralText()
      .split('\n')
      .filter((line) => line.trim() !== '' && !lines.includes(line))
    if (missing.length > 0)
      target.setLiteralValue(`${target.getLiteralText().trimEnd()}\n${missing.join('\n')}\n`)
  }
}

const memberOf = (property: Node | undefined): Literal | undefined =>
  Node.isPropertyAssignment(property) ? literalOf(property.getInitializer()) : undefined

const plain = (node: Node): string => node.getText().replaceAll(/\s+/g, ' ')

/** Returns the name of a property: `name` and `'name'` give `name`; a spread gives `...name`. */
function nameOf(property: Node): string {
  if (Node.isSpreadAssignment(property)) return `...${property.getExpression().getText()}`
  const name = 'getName' in property ? (property.getName as () => string)() : property.getText()
  return name.replace(/^(['"])(.*)\1$/, '$2')
}
