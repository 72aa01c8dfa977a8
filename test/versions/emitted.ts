/**
 * Translations as they are emitted, run from memory, each function watched: which are called, and what comes out when
 * one of them is replaced by the identity.
 */
import { basename, dirname, join } from 'node:path'
import type { Translate as TableFunction } from 'dateline/runtime'
import * as paths from 'dateline/runtime/paths'
import * as requests from 'dateline/runtime/requests'
import * as touched from 'dateline/runtime/touched'
import ts from 'typescript'
import type { LoadedChange } from '../../generators/change/load-changes.ts'
import type { BoundFunction, Translations } from '../../generators/emit/translations/translations.ts'

/** A generated function, called with what a test makes up. */
// biome-ignore lint/suspicious/noExplicitAny: tests call all functions alike
export type Translate = (value: any) => any

/** A function of a table, which the types of the table do not let tests call. */
export const callable = (translate: TableFunction | undefined) => translate as Translate | undefined

export interface Watch {
  /** `2026-02-01/Card_down`: replaced by the identity. */
  replaced: string | undefined
  readonly called: Set<string>
}

export interface Emitted {
  readonly watch: Watch
  /** Every function, as `2026-02-01/Card_down`. */
  readonly functions: readonly string[]
  find(bound: BoundFunction | undefined): Translate | undefined
}

/** Up to the brace that opens its body; signatures of overloads have none. */
const FUNCTION = /^((?:export )?function (\w+)\(\s*(\w+): (?:(?!^(?:export )?function )[^{])*?\{)$/gm

const transpiled = new Map<string, string>()

/** Once for each text: most of grown cases come out alike. */
function transpile(text: string): string {
  const known = transpiled.get(text)
  if (known !== undefined) return known
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  })
  transpiled.set(text, outputText)
  return outputText
}

/** @param translations as the emitter gives them. */
export function runEmitted(translations: Translations, changes: readonly LoadedChange[]): Emitted {
  const watch: Watch = { replaced: undefined, called: new Set() }
  const functions: string[] = []
  const modules = new Map<string, Record<string, Translate>>()
  const sources = new Map(translations.files.map((file) => [basename(file.path), file.text]))
  const call = (name: string): boolean => {
    watch.called.add(name)
    return watch.replaced === name
  }
  const load = (file: string): Record<string, Translate> => {
    const known = modules.get(file)
    if (known) return known
    const version = basename(file, '.ts')
    const watched = sources
      .get(file)!
      .replace(FUNCTION, (_, opening: string, name: string, value: string) => {
        functions.push(`${version}/${name}`)
        return `${opening}\n  if (replaced('${version}/${name}')) return ${value}`
      })
    const exports: Record<string, Translate> = {}
    const required = (path: string): unknown => {
      if (path === 'dateline/runtime/paths') return paths
      if (path === 'dateline/runtime/requests') return requests
      if (path === 'dateline/runtime/touched') return touched
      if (path.startsWith('./') && sources.has(basename(path))) return load(basename(path))
      const file = join(basename(dirname(path)), basename(path))
      return { default: changes.find((change) => change.file.endsWith(file)) }
    }
    new Function('require', 'exports', 'replaced', transpile(watched))(required, exports, call)
    modules.set(file, exports)
    return exports
  }
  for (const file of sources.keys()) load(file)
  return { watch, functions, find: (bound) => bound && load(`${bound.version}.ts`)[bound.name] }
}
