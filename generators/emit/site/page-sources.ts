/** Pages that people write, and the files that they show: a folder that the configuration names. (I/O) */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface PageSources {
  /** Texts by name: `quick-start.md.hbs`, in the order of their numbers. */
  readonly pages: readonly { readonly slug: string; readonly text: string }[]
  /** What pages may show or read, by path below the folder. */
  readonly files: Readonly<Record<string, string>>
}

const PAGE = /^\d+-(.+)\.md\.hbs$/

/** @returns pages in the order of the numbers that their names begin with. */
export function readPageSources(folder: string): PageSources {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(join(folder, '/').length).replaceAll('\\', '/'))
    .sort()
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  return {
    pages: names.flatMap((name) => {
      const slug = PAGE.exec(name)?.[1]
      return slug === undefined ? [] : [{ slug, text: read(name) }]
    }),
    files: Object.fromEntries(names.filter((name) => !PAGE.test(name)).map((name) => [name, read(name)])),
  }
}
