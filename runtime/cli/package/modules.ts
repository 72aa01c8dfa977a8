/** Finds the modules that a program imports, and strips their types. */
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

export interface Modules {
  /** JavaScript source of this project's modules, by path. */
  readonly files: ReadonlyMap<string, string>
  /** Sorted names of the imported packages, including Node's built-in modules. */
  readonly imported: readonly string[]
}

const IMPORT = /^(?:import|export)\s(?:[^'"]*?\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)/gm

/**
 * Compiles `entry` and the modules that it imports. Type-only imports are ignored.
 * @param root folder that paths are relative to.
 * @throws Error if an imported file does not exist or is not TypeScript.
 */
export function compile(root: string, entry: string): Modules {
  const files = new Map<string, string>()
  const imported = new Set<string>()
  const reached = new Set([entry])
  for (const path of reached) {
    if (!path.endsWith('.ts'))
      throw new Error(
        `${path}, which ${entry} imports, is not a TypeScript file: only TypeScript can be packed`,
      )
    const written = stripTypeScriptTypes(readFileSync(join(root, path), 'utf8')).replace(
      IMPORT,
      (line, named?: string, dynamic?: string) => {
        const specifier = named ?? dynamic ?? ''
        if (!specifier.startsWith('.')) {
          imported.add(specifier)
          return line
        }
        reached.add(join(dirname(path), specifier.replace(/\.js$/, '.ts')))
        return line.replace(specifier, toJavaScript(specifier))
      },
    )
    files.set(toJavaScript(path), written)
  }
  return { files, imported: [...imported].toSorted() }
}

const toJavaScript = (path: string) => path.replace(/\.ts$/, '.js')
