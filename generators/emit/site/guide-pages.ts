/** Wraps the changelog and the migration guides in the page layout of the documentation. */
import type { LoadedChange } from '../../change/load-changes.ts'
import { createGuides } from '../guides/guides.ts'
import type { SitePage } from './frame.ts'
import type { VersionIndex, VersionSettings } from './version-pages.ts'

/** Address of the Atom feed. */
export const FEED = '/changelog.xml'

export const CHANGELOG = 'Changelog'

/**
 * Returns the pages, and the feed if versions are dates.
 *
 * @param all every version, oldest first.
 */
export function guidePages(
  all: readonly VersionIndex[],
  changes: readonly LoadedChange[],
  client: string | undefined,
  { apis, wire, home, clientsHref }: VersionSettings,
): { readonly pages: readonly SitePage[]; readonly feed: string | undefined } {
  const indexOf = (version: string) => all.find(({ api }) => api.version === version)
  const part = (text: string) => encodeURIComponent(text.toWellFormed())
  const links = {
    changelog: `${home}/changelog`,
    clients: clientsHref,
    feed: FEED,
    upgrade: (from: string, to: string) => `${home}/upgrading/${part(from)}/${part(to)}`,
    operation: (version: string, id: string) => indexOf(version)?.operations.get(id)?.href ?? home,
    event: (version: string, name: string) => indexOf(version)?.events.get(name)?.href ?? home,
  }
  const { pages, upgrades, feed } = createGuides(apis, changes, { wire, client, links })
  const navigation = [
    { title: CHANGELOG, links: [{ label: 'All versions', href: links.changelog }] },
    {
      title: 'Migration guides',
      links: upgrades
        .map(({ from, to }) => ({ label: `${from} to ${to}`, href: links.upgrade(from, to) }))
        .reverse(),
    },
  ]
  return {
    pages: pages.map((page) => ({ ...page, section: CHANGELOG, navigation, versions: [] })),
    feed,
  }
}
