/** What the versions of a family are called: folders of output, and subpaths of the client, have these names. */
import type { Report } from '../diagnostics/diagnostic.ts'
import type { Api } from './model.ts'

/** A name that is a folder on every system, and no way out of one. */
const NAME = /^[A-Za-z0-9][\w.-]*$/

/** Folders of output that belong to no version, and those whose contents are never looked at. */
const TAKEN = new Set(['canonical', 'client', 'translations', 'node_modules', 'dist'])

/** Whether each is the name of a folder of its own, also where case does not count. */
const areFolders = (names: readonly string[]): boolean =>
  names.every(isFolder) && new Set(names.map((name) => name.toLowerCase())).size === names.length

const isFolder = (name: string): boolean => NAME.test(name) && !TAKEN.has(name.toLowerCase())

/**
 * A version is called what its document says (`info.version`). Families whose documents all say the same, or
 * something that is no name, are told apart by the names of their files.
 */
export function nameVersions(apis: readonly Api[], report: Report): Api[] {
  const said = apis.map((api) => api.version)
  if (areFolders(said)) return [...apis]
  const stems = apis.map((api) => stemOf(api.file))
  const other = areFolders(stems)
  const folders = said.map((version) => version.toLowerCase())
  for (const [index, api] of apis.entries()) {
    const folder = folders[index]!
    const alone = isFolder(folder) && folders.indexOf(folder) === folders.lastIndexOf(folder)
    if (other && index > 0 && alone) continue
    report.add({
      code: 'version-unclear',
      severity: other ? 'warning' : 'error',
      place: api.place,
      message: alone
        ? 'versions of this family are called after their files'
        : `\`version: ${api.version}\` tells this document from no other`,
      hint: other
        ? `it is called ${stems[index]} after its file`
        : 'give each document a version of its own, made of letters, digits, dots, dashes',
    })
  }
  return other ? apis.map((api, index) => ({ ...api, version: stems[index]! })) : [...apis]
}

const stemOf = (file: string): string => (file.split(/[\\/]/).at(-1) ?? file).replace(/\.[^.]+$/, '')
