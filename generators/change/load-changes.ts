/**
 * Loads the hand-written changes: `versions/<version>/*.ts`, each describing a difference from the previous
 * version.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { hashFile } from '../cache/cache.ts'
import type { Report } from '../diagnostics/diagnostic.ts'
import { compare } from '../print/file.ts'
import type { Change, Lens } from './change.ts'
import { holesIn, withHoles } from './decide.ts'

export interface LoadedChange extends Change {
  /** The version that introduced the change. */
  readonly version: string
  readonly file: string
}

const KINDS: Readonly<Record<Lens['kind'], true>> = {
  values: true,
  convert: true,
  rename: true,
  replace: true,
  drop: true,
  default: true,
  optional: true,
  nullable: true,
  'non-null': true,
  'leave-out': true,
  moved: true,
  wrapped: true,
  filter: true,
  'renamed-parameter': true,
  'default-parameter': true,
  'converted-parameter': true,
  'ignored-parameter': true,
  served: true,
  status: true,
  'required-header': true,
  'renamed-header': true,
  'renamed-event': true,
  'moved-parameter': true,
  behaviour: true,
  accept: true,
}

/** Loads the changes of each version, ordered by file name. Reports files that export no valid change. */
export async function loadChanges(
  directory: string | undefined,
  versions: readonly string[],
  report: Report,
): Promise<LoadedChange[]> {
  const changes: LoadedChange[] = []
  for (const version of versions) {
    const folder = directory === undefined ? undefined : join(directory, version)
    if (folder === undefined || !existsSync(folder)) continue
    for (const name of readdirSync(folder)
      .filter((each) => each.endsWith('.ts'))
      .sort(compare)) {
      const file = join(folder, name)
      const change = await loadChange(file, report)
      if (change === 'unloadable') continue
      const own = name.slice(0, -'.ts'.length)
      const hint = `export default v.change({ id: '${own}', … })`
      const refuse = (message: string) =>
        report.add({ code: 'change-invalid', severity: 'error', message: `${file} ${message}`, hint })
      if (change?.id !== own) refuse('exports no change whose id is its file name')
      else if (!Array.isArray(change.lenses)) refuse('exports a change whose `lenses` is not a list')
      else if (!change.lenses.every(isLens))
        refuse('exports a change with a lens of an unknown kind, or whose schemas are not a list')
      else {
        changes.push({ ...change, version, file })
        for (const { what, line, column } of holesIn(change))
          report.add({
            code: 'change-undecided',
            severity: 'error',
            message: `${own}: decide ${what}`,
            place: { file, line, column, pointer: '' },
            hint: 'replace `decide(…)` with a value or a function',
          })
      }
    }
  }
  return changes
}

/** Hash of the text of each module at its first import. */
const imported = new Map<string, string>()

/**
 * Imports a TypeScript file, also on versions of Node that do not strip types (before 22.18). A file that was edited
 * since its first import in this process is imported again; the modules that it imports are not.
 */
export async function importTypeScript(file: string): Promise<unknown> {
  const hash = hashFile(file) ?? ''
  const isEdited = (imported.get(file) ?? hash) !== hash
  if (!imported.has(file)) imported.set(file, hash)
  if (process.features.typescript) return import(pathToFileURL(file).href + (isEdited ? `?${hash}` : ''))
  const { createJiti } = await import('jiti')
  return createJiti(import.meta.url, { moduleCache: !isEdited }).import(file)
}

/** Change files run arbitrary code, so importing one may throw. */
async function loadChange(file: string, report: Report): Promise<Change | undefined | 'unloadable'> {
  try {
    const loaded = await withHoles(() => importTypeScript(resolve(file)))
    return (loaded as { default?: Change }).default
  } catch (cause) {
    report.add({
      code: 'change-invalid',
      severity: 'error',
      message: `${file} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`,
      place: { file, line: 1, column: 1, pointer: '' },
      hint: 'run `tsc --noEmit` to see type errors in the file',
    })
    return 'unloadable'
  }
}

const isLens = (lens: unknown): boolean =>
  typeof lens === 'object' &&
  lens !== null &&
  'kind' in lens &&
  Object.hasOwn(KINDS, String(lens.kind)) &&
  // A file that tsc has not checked may name one schema instead of a list.
  (!('schemas' in lens) || Array.isArray(lens.schemas))
