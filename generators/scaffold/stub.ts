/**
 * Adds a handler for every operation that has none, in the folder of its tag, and touches nothing that stands there.
 * A stub answers 501 `not_implemented` until somebody writes it.
 */
import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type ObjectLiteralExpression, Project, type SourceFile, SyntaxKind } from 'ts-morph'
import { headOperations } from '../change/head.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import { handlersInterface } from '../emit/handlers/handlers.ts'
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
 * @returns what was missing, in the order of the newest document.
 */
export function addStubs(
  apis: readonly Api[],
  handlers: string,
  out: string,
  listing = false,
  changes: readonly LoadedChange[] = [],
): Stub[] {
  const project = new Project({
    useInMemoryFileSystem: false,
    compilerOptions: { allowImportingTsExtensions: true },
  })
  const added: Stub[] = []
  for (const { operation } of headOperations(apis, changes)) {
    const file = join(handlers, snakeCase(operation.tag).replaceAll('_', '-'), 'handlers.ts')
    const source = project.getSourceFile(file) ?? openSource(project, file, operation.tag, out)
    const object = handlersObject(source, operation.tag)
    const name = propertyKey(operation.id)
    if (!object || object.getProperty(name)) continue
    useNotImplemented(source)
    object.addMethod({ name, isAsync: true, statements: ['return notImplemented()'] })
    added.push({ file, operation: operation.id })
  }
  if (!listing) project.saveSync()
  return added
}

const objectName = (tag: string): string => identifier(`${camelCase(tag)}Handlers`)

function openSource(project: Project, file: string, tag: string, out: string): SourceFile {
  if (existsSync(file)) return project.addSourceFileAtPath(file)
  const from = relative(dirname(file), join(out, 'head', 'handlers.ts')).replaceAll('\\', '/')
  return project.createSourceFile(
    file,
    `import type { ${handlersInterface(tag)} } from '${from}'\n\nexport const ${objectName(tag)} = {\n} satisfies Partial<${handlersInterface(tag)}>\n`,
  )
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

function useNotImplemented(source: SourceFile): void {
  const from = '../../api/errors.ts'
  const known = source.getImportDeclaration((each) => each.getModuleSpecifierValue() === from)
  if (!known) source.addImportDeclaration({ moduleSpecifier: from, namedImports: ['notImplemented'] })
  else if (!known.getNamedImports().some((each) => each.getName() === 'notImplemented'))
    known.addNamedImport('notImplemented')
}
