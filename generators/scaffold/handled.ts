/** Finds the handlers of operations in the sources of a service. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { type CanonicalOperation, canonicalOperations } from '../change/canonical.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import type { Api } from '../ir/model.ts'

/**
 * Returns the operations without a handler, in the order of the newest document.
 *
 * @param handlers folder in which an exported object has a member for each handled operation.
 * @param changes of all versions; operations that a `served` lens maps to a different operation have no handler.
 */
export function missingOperations(
  apis: readonly Api[],
  handlers: string,
  changes: readonly LoadedChange[] = [],
): readonly CanonicalOperation[] {
  const operations = canonicalOperations(apis, changes)
  const handled = handlerFiles(
    operations.map(({ operation }) => operation.id),
    handlers,
  )
  return operations.filter(({ operation }) => !handled.has(operation.id))
}

/** Returns the files below a folder that handle operations, by operation id. */
export function handlerFiles(ids: readonly string[], handlers: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const file of existsSync(handlers) ? sourcesBelow(handlers).sort() : []) {
    const text = readFileSync(file, 'utf8')
    // Parsing is slow, so skip files that mention no operation id.
    if (!ids.some((id) => text.includes(id))) continue
    const names = new Set(memberNames(text))
    for (const id of ids) if (names.has(id) && !files.has(id)) files.set(id, file)
  }
  return files
}

/** Lists the TypeScript files below a folder, except those of installed packages. */
const sourcesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : sourcesBelow(path)
    return entry.name.endsWith('.ts') ? [path] : []
  })

/** Returns the member names of every exported object in a source text. */
export function memberNames(text: string): string[] {
  const { statements } = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true)
  const listed = new Set(
    statements.flatMap((each) => {
      if (ts.isExportAssignment(each)) return [each.expression.getText()]
      const clause = ts.isExportDeclaration(each) ? each.exportClause : undefined
      return clause && ts.isNamedExports(clause)
        ? clause.elements.map(({ name, propertyName }) => (propertyName ?? name).getText())
        : []
    }),
  )
  return statements.filter(ts.isVariableStatement).flatMap(({ modifiers, declarationList }) => {
    const isExported = modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    return declarationList.declarations
      .filter(({ name }) => isExported || listed.has(name.getText()))
      .flatMap(({ initializer }) => objectOf(initializer)?.properties.map(nameOf) ?? [])
  })
}

/** Returns the object that initializes a variable, without `as const`, `satisfies`, or a call around it. */
function objectOf(value: ts.Expression | undefined): ts.ObjectLiteralExpression | undefined {
  if (value === undefined) return undefined
  if (ts.isObjectLiteralExpression(value)) return value
  if (ts.isAsExpression(value) || ts.isSatisfiesExpression(value)) return objectOf(value.expression)
  if (ts.isNewExpression(value)) return objectOf(value.arguments?.[0])
  if (ts.isCallExpression(value) || ts.isPropertyAccessExpression(value)) return objectOf(value.expression)
  return undefined
}

/** A spread gives `...name`. */
function nameOf(property: ts.ObjectLiteralElementLike): string {
  if (ts.isSpreadAssignment(property)) return `...${property.expression.getText()}`
  return property.name.getText().replace(/^(['"])(.*)\1$/, '$2')
}
