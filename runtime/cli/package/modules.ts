/** The modules that a program runs on, as plain JavaScript. */
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'

export interface Modules {
  /** JavaScript by path, of modules of this project. */
  readonly files: ReadonlyMap<string, string>
  /** Names of what they import from elsewhere, Node's own among them; sorted. */
  readonly imported: readonly string[]
}

const IMPORT = /^(?:import|export)\s(?:[^'"]*?\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)/gm

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
