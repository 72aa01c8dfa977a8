import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import ts from 'typescript'

const PACKAGE = 'generated/client'

/** Compiles programs of readers against the client, all in one go. @param files names and texts. @returns messages by file. */
export function compile(files: readonly (readonly [string, string])[]): Map<string, string[]> {
  const folder = mkdtempSync(join('test/docs', '.compiled-'))
  try {
    for (const [name, text] of files) writeFileSync(join(folder, name), text)
    const settings = ts.readConfigFile(`${PACKAGE}/tsconfig.json`, ts.sys.readFile).config
    const { options } = ts.convertCompilerOptionsFromJson(settings.compilerOptions, PACKAGE)
    const { rootDir: _, outDir: __, ...rest } = options
    const paths = { '@dateline/passes/*': [resolve(PACKAGE, 'src/*/index.ts')] }
    const program = ts.createProgram(
      files.map(([name]) => join(folder, name)),
      { ...rest, paths, types: ['node'], noEmit: true },
    )
    const found = new Map<string, string[]>()
    for (const { file, messageText } of ts.getPreEmitDiagnostics(program)) {
      const name = file ? relative(folder, file.fileName) : ''
      found.set(name, [...(found.get(name) ?? []), ts.flattenDiagnosticMessageText(messageText, ' ')])
    }
    return found
  } finally {
    rmSync(folder, { recursive: true })
  }
}
