/** The modules that a program runs on, as plain JavaScript. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

export interface Modules {
  /** JavaScript by path, of modules of this project. */
  readonly files: ReadonlyMap<string, string>
  /** Names of what they import from elsewhere, Node's own among them; sorted. */
  readonly imported: readonly string[]
}

/** What the oldest Node that runs the package understands. */
const TARGET = ts.ScriptTarget.ES2023

/**
 * Follows what is left of imports when types are gone.
 *
 * @param root folder that paths are relative to.
 * @throws Error where a file imports one that is not there, or is no TypeScript.
 */
export function compile(root: string, entry: string): Modules {
  const files = new Map<string, string>()
  const imported = new Set<string>()
  const reached = new Set([entry])
  for (const path of reached) {
    if (!path.endsWith('.ts'))
      throw new Error(`${path} is reached by imports from ${entry}: only TypeScript is compiled`)
    const text = transpile(path, readFileSync(join(root, path), 'utf8'))
    files.set(toJavaScript(path), text)
    for (const { fileName } of ts.preProcessFile(text, true, true).importedFiles) {
      if (fileName.startsWith('.')) reached.add(join(dirname(path), fileName.replace(/\.js$/, '.ts')))
      else imported.add(fileName)
    }
  }
  return { files, imported: [...imported].toSorted() }
}

const toJavaScript = (path: string) => path.replace(/\.ts$/, '.js')

function transpile(fileName: string, text: string): string {
  const { outputText, diagnostics = [] } = ts.transpileModule(text, {
    fileName,
    reportDiagnostics: true,
    compilerOptions: {
      target: TARGET,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      rewriteRelativeImportExtensions: true,
      removeComments: true,
    },
  })
  for (const { messageText } of diagnostics)
    throw new Error(`${fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`)
  return outputText
}
