/** Names the versions of a family. The names are used for output folders and subpaths of the client. */
import type { Report } from '../diagnostics/diagnostic.ts'
import type { Api } from './model.ts'

/** A name that is a valid folder on every system and does not leave its parent. */
const NAME = /^[A-Za-z0-9][\w.-]*$/

/** Folders of the output that belong to no version, and folders that are ignored. */
const TAKEN = new Set(['canonical', 'client', 'translations', 'node_modules', 'dist'])

/** Returns whether all names are valid and different, even on a case-insensitive file system. */
const areFolders = (names: readonly string[]): boolean =>
  names.every(isFolder) && new Set(names.map((name) => name.toLowerCase())).size === names.length

const isFolder = (name: string): boolean => NAME.test(name) && !TAKEN.has(name.toLowerCase())

/** Names versions by their `info.version`. If these are not unique or not valid names, uses the file names. */
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
        ? 'versions of this family are named after their files'
        : `\`version: ${api.version}\` does not identify this document uniquely`,
      hint: other
        ? `this version is named ${stems[index]} after its file`
        : 'give each document a unique version of letters, digits, dots and dashes',
    })
  }
  return other ? apis.map((api, index) => ({ ...api, version: stems[index]! })) : [...apis]
}

const stemOf = (file: string): string => (file.split(/[\\/]/).at(-1) ?? file).replace(/\.[^.]+$/, '')
