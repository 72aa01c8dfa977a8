/** What the documentation is made of beside the documents. (I/O) */
import { readPageSources } from '../emit/site/page-sources.ts'
import type { SiteSettings } from '../emit/site/site.ts'
import type { Config } from './config.ts'

export function siteSettings({ wire, client, pages }: Config): SiteSettings {
  return {
    wire,
    client: client?.package.name,
    pages: pages === undefined ? undefined : readPageSources(pages),
  }
}
