/** Whether a fault gets past the TypeScript compiler. Nobody can run one that does not. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Project, type ts } from 'ts-morph'
import type { Replacement } from './replacement.ts'

/** Something is declared and not used, because the fault removed its only use. The author of such a fault would remove it. */
const UNUSED = [6133, 6138, 6192, 6196, 6198]

/**
 * Reads the files with everything that they import. Returns a function that tells whether the file of a fault compiles.
 *
 * @param files paths below the root, of TypeScript.
 */
export function openCompiler(root: string, files: readonly string[]): (of: Replacement) => boolean {
  const tsConfigFilePath = join(root, 'tsconfig.json')
  const project = new Project({ tsConfigFilePath, skipAddingFilesFromTsConfig: true })
  project.addSourceFilesAtPaths(files.map((file) => join(root, file)))
  project.resolveSourceFileDependencies()
  return ({ file, start, end, text }) => {
    if (file.endsWith('.sql')) return true
    const path = join(root, file)
    const right = readFileSync(path, 'utf8')
    const source = project.getSourceFileOrThrow(path)
    source.replaceWithText(right.slice(0, start) + text + right.slice(end))
    const program = project.getProgram().compilerObject
    const found = program.getSemanticDiagnostics(source.compilerNode as ts.SourceFile)
    source.replaceWithText(right)
    return found.every(({ code }) => UNUSED.includes(code))
  }
}
