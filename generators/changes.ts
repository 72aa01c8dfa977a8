/** Loading the hand-written changes: `versions/<version>/*.ts`, each the difference from the version before. */
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Change } from '../versions/change.ts'
import type { Report } from './diagnostics.ts'
import { compare } from './print/file.ts'

export interface LoadedChange extends Change {
  /** Version that introduced it. */
  readonly version: string
  readonly file: string
}

/** @returns the changes of each version in order of their file names; a file without a change is reported. */
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
      if (change?.id === name.slice(0, -'.ts'.length)) changes.push({ ...change, version, file })
      else {
        report.add({
          code: 'change-invalid',
          severity: 'error',
          message: `${file} exports no change of its own name`,
          hint: `export default v.change({ id: '${name.slice(0, -'.ts'.length)}', … })`,
        })
      }
    }
  }
  return changes
}

/** Changes are programs of their own, and may fail like any. */
async function loadChange(file: string, report: Report): Promise<Change | undefined | 'unloadable'> {
  try {
    return ((await import(pathToFileURL(resolve(file)).href)) as { default?: Change }).default
  } catch (cause) {
    report.add({
      code: 'change-invalid',
      severity: 'error',
      message: `${file} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`,
      place: { file, line: 1, column: 1, pointer: '' },
      hint: 'run `tsc --noEmit`: types say what is wrong with it',
    })
    return 'unloadable'
  }
}
