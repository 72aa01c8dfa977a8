/** What the versions of a family are called: folders of output, and subpaths of the client, have these names. */
import type { Report } from '../diagnostics.ts'
import type { Api } from './model.ts'

/** A name that is a folder on every system, and no way out of one. */
const NAME = /^[A-Za-z0-9][\w.-]*$/

/**
 * A version is called what its document says (`info.version`). Families whose documents all say the same, or
 * something that is no name, are told apart by the names of their files.
 */
export function nameVersions(apis: readonly Api[], report: Report): Api[] {
  const said = apis.map((api) => api.version)
  const usable = said.every((version) => NAME.test(version)) && new Set(said).size === said.length
  if (usable) return [...apis]
  const stems = apis.map((api) => stemOf(api.file))
  const other = stems.every((stem) => NAME.test(stem)) && new Set(stems).size === stems.length
  for (const [index, api] of apis.entries()) {
    const alone = NAME.test(api.version) && said.indexOf(api.version) === said.lastIndexOf(api.version)
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
