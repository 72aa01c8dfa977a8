/** Hashes everything that a run reads: two runs with the same hash have the same findings. */
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { filesBelow, hashFile, hashOf, isNoFile, toolkitFolder, toolkitHash } from '../cache/cache.ts'
import { findParts } from '../document/parts.ts'
import type { Config } from '../generate/config.ts'

/**
 * Returns the hash of the configuration, documents and their parts, changes with their imports, extension rules and toolkit.
 *
 * @param file the configuration file.
 * @returns undefined if a file cannot be read, or if a change may read something that its text does not show.
 */
export function hashInputs(config: Config, file: string): string | undefined {
  try {
    const changes = config.versions === undefined ? [] : filesBelow(config.versions)
    const imported = importsOf([...changes, file])
    if (!imported) return undefined
    const extensions = config.extensions === undefined ? [] : [config.extensions]
    const pages = config.pages === undefined ? [] : filesBelow(config.pages)
    const license = config.license === undefined ? [] : [config.license]
    const documents = [...config.documents, ...(config.overlays ?? [])]
    const parts = findParts(documents, config.remoteReferences)
    const inputs = [
      file,
      ...documents,
      ...parts,
      ...extensions,
      ...pages,
      ...license,
      ...changes,
      ...imported,
    ]
    return hashOf(toolkitHash(), ...inputs.flatMap((input) => [input, hashFile(input) ?? 'no file']))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === undefined) throw cause
    return undefined
  }
}

/** Returns the hash of modules and everything that they import, or undefined if that cannot be determined. */
export function hashModules(files: readonly string[]): string | undefined {
  const imported = importsOf(files)
  return imported && hashOf(...[...files, ...imported].flatMap((file) => [file, hashFile(file) ?? 'no file']))
}

const MODULE = /\.[cm]?[jt]s$/

/** Type-only imports, which do not exist at run time. */
const TYPES_ONLY = /\b(?:import|export)\s+type\b[^'"`;]*?\bfrom\s*(?:'[^'\n]*'|"[^"\n]*")/g

const SPECIFIER = /\b(?:from|import|require)\b\s*\(?\s*(?:'([^'\n]*)'|"([^"\n]*)")/g

/** Code whose inputs are unknown: dynamic imports, and access to the environment. */
const UNKNOWABLE = /\b(?:import|require)\s*\(\s*[^'"\s]|\b(?:process|fetch|globalThis)\b/

/** Node modules that do not depend on the machine. */
const PURE = new Set([
  'assert',
  'buffer',
  'crypto',
  'events',
  'path',
  'querystring',
  'string_decoder',
  'url',
  'util',
])

/** Returns the files that modules import, directly or indirectly, or undefined if that cannot be determined. */
function importsOf(files: readonly string[]): readonly string[] | undefined {
  const known = new Set(files.map((file) => resolve(file)))
  const found = new Set<string>()
  const waiting = files.filter((file) => MODULE.test(file))
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const text = textOf(file)
    if (text === undefined) continue
    const code = text.replace(TYPES_ONLY, '')
    if (UNKNOWABLE.test(code)) return undefined
    for (const [, single, double] of code.matchAll(SPECIFIER)) {
      const targets = targetsOf(single ?? double!, file)
      if (!targets) return undefined
      for (const target of targets) {
        if (known.has(target)) continue
        known.add(target)
        found.add(target)
        if (MODULE.test(target)) waiting.push(target)
      }
    }
  }
  return [...found].sort()
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if (isNoFile(cause)) return undefined
    throw cause
  }
}

/** Returns the files that a specifier depends on, or undefined if that cannot be determined. */
function targetsOf(specifier: string, importer: string): readonly string[] | undefined {
  if (/^\.{0,2}\//.test(specifier)) return [resolve(dirname(importer), specifier.replace(/[?#].*$/, ''))]
  if (specifier.startsWith('file:')) return [fileURLToPath(specifier)]
  const name = specifier.replace(/^node:/, '')
  if (specifier.startsWith('node:') || builtinModules.includes(name)) return PURE.has(name) ? [] : undefined
  return packageOf(specifier, importer)
}

/**
 * Returns the files that identify an installed package's version, or undefined for a linked package, whose files
 * can change at any time.
 */
function packageOf(specifier: string, importer: string): readonly string[] | undefined {
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0]
  if (name === undefined || name.startsWith('#')) return undefined

  for (let folder = dirname(resolve(importer)); ; folder = dirname(folder)) {
    const installed = join(folder, 'node_modules')
    if (existsSync(join(installed, name, 'package.json'))) {
      const real = realpathSync(join(installed, name))
      // The toolkit's hash is part of every input hash.
      if (real === realpathSync(toolkitFolder())) return []
      return real.includes('node_modules')
        ? [join(installed, name, 'package.json'), join(installed, '.package-lock.json')]
        : undefined
    }
    if (folder === dirname(folder)) return undefined
  }
}
