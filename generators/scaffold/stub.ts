/**
 * Adds a handler for every operation that has none, in the folder of its tag, and touches nothing that stands there.
 * A stub calls what the configuration names, or throws, until somebody writes it.
 */
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type ObjectLiteralExpression, Project, type SourceFile, SyntaxKind } from 'ts-morph'
import { headOperations } from '../change/head.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import { handlersInterface } from '../emit/handlers/handlers.ts'
import type { Config, Export } from '../generate/config.ts'
import type { Api } from '../ir/model.ts'
import { camelCase, identifier, snakeCase } from '../ir/naming.ts'
import { propertyKey } from '../print/literal.ts'

/** An operation without a handler, and the file that its handler belongs in. */
export interface Stub {
  readonly file: string
  readonly operation: string
}

/**
 * @param listing finds what is missing and writes nothing.
 * @param changes of all versions: what one serves under another id has no handler of its own.
 * @param names what stubs import of the service.
 * @returns what was missing, in the order of the newest document.
 */
export function addStubs(
  apis: readonly Api[],
  handlers: string,
  out: string,
  listing = false,
  changes: readonly LoadedChange[] = [],
  names: Config['stubs'] = {},
): Stub[] {
  const project = new Project({
    useInMemoryFileSystem: false,
    compilerOptions: { allowImportingTsExtensions: true },
  })
  const added: Stub[] = []
  for (const { operation } of headOperations(apis, changes)) {
    const file = join(handlers, snakeCase(operation.tag).replaceAll('_', '-'), 'handlers.ts')
    const source = project.getSourceFile(file) ?? openSource(project, file, operation.tag, out, names.context)
    const object = handlersObject(source, operation.tag)
    const name = propertyKey(operation.id)
    if (!object || object.getProperty(name)) continue
    const { notImplemented } = names
    if (notImplemented) useExport(source, file, notImplemented)
    const statement = notImplemented
      ? `return ${notImplemented.name}()`
      : "throw new Error('nobody has written this yet')"
    object.addMethod({ name, isAsync: true, statements: [statement] })
    added.push({ file, operation: operation.id })
  }
  if (!listing) project.saveSync()
  return added
}

const objectName = (tag: string): string => identifier(`${camelCase(tag)}Handlers`)

const importPath = (from: string, to: string): string => {
  const path = relative(dirname(from), to).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}

function openSource(
  project: Project,
  file: string,
  tag: string,
  out: string,
  context: Export | undefined,
): SourceFile {
  if (existsSync(file)) return project.addSourceFileAtPath(file)
  const from = importPath(file, join(out, 'head', 'handlers.ts'))
  const lines = [`import type { ${handlersInterface(tag)} } from '${from}'`]
  if (context) lines.push(`import type { ${context.name} } from '${importPath(file, context.file)}'`)
  const type = `${handlersInterface(tag)}<${context?.name ?? 'unknown'}>`
  lines.push('', `export const ${objectName(tag)} = {`, `} satisfies Partial<${type}>`, '')
  return project.createSourceFile(file, lines.join('\n'))
}

/** The object literal that the file exports for its tag, also under `satisfies`. */
function handlersObject(source: SourceFile, tag: string): ObjectLiteralExpression | undefined {
  const declaration = source.getVariableDeclaration(objectName(tag))
  const value = declaration?.getInitializer()
  if (!value) return undefined
  return (
    value.asKind(SyntaxKind.ObjectLiteralExpression) ??
    value.getFirstDescendantByKind(SyntaxKind.ObjectLiteralExpression)
  )
}

function useExport(source: SourceFile, file: string, { file: from, name }: Export): void {
  const path = importPath(file, from)
  const known = source.getImportDeclaration((each) => each.getModuleSpecifierValue() === path)
  if (!known) source.addImportDeclaration({ moduleSpecifier: path, namedImports: [name] })
  else if (!known.getNamedImports().some((each) => each.getName() === name)) known.addNamedImport(name)
}
