/** Collects the site's inputs other than the documents. Reads files. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PageSources } from '../emit/site/page-sources.ts'
import type { SiteSettings } from '../emit/site/site.ts'
import type { Config } from './config.ts'

export function siteSettings({ wire, client, pages }: Config): SiteSettings {
  return {
    wire,
    client: client?.package.name,
    pages: pages === undefined ? undefined : readPageSources(pages),
  }
}

const PAGE = /^\d+-(.+)\.md\.hbs$/

/** Reads pages in the order of the numbers at the start of their names. */
function readPageSources(folder: string): PageSources {
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
