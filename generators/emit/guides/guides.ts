/**
 * Generates the changelog, the feed and the migration guides from documents and changes, so that they are always up
 * to date.
 */
import type { LoadedChange } from '../../change/load-changes.ts'
import type { Wire } from '../../client-runtime/service.ts'
import { claimSteps } from '../../gate/steps.ts'
import type { Api } from '../../ir/model.ts'
import type { SafeHtml } from '../reference/html.ts'
import { render } from '../templates/templates.ts'
import { printFeed } from './atom.ts'
import { readChangelog, type Upgrade, upgradesOf } from './changelog.ts'
import { type DocsLinks, upgradeTitle, viewChangelog, viewUpgrade } from './views.ts'

/** A page without its frame. */
export interface GuidePage {
  /** Path below the documentation: `changelog`, `upgrading/2026-02-01/2026-05-19`. */
  readonly path: string
  readonly title: string
  /** One sentence. */
  readonly description: string
  /** Starts with the `h1`. */
  readonly contentHtml: SafeHtml
  readonly markdown: string
}

export interface Guides {
  readonly pages: readonly GuidePage[]
  /** The versions of each migration guide, with the path of its page. */
  readonly upgrades: readonly { readonly path: string; readonly from: string; readonly to: string }[]
  /** The Atom feed; undefined if versions are not dates. */
  readonly feed: string | undefined
}

export interface GuideSettings {
  readonly wire: Wire
  /** The client's npm package, if there is one. */
  readonly client?: string | undefined
  readonly links: DocsLinks
}

/**
 * @param apis all versions, oldest first.
 * @param changes the changes of all versions.
 */
export function createGuides(
  apis: readonly Api[],
  changes: readonly LoadedChange[],
  { wire, client, links }: GuideSettings,
): Guides {
  const changelog = readChangelog(apis, claimSteps(apis, changes), { wire, client })
  const upgrades = upgradesOf(changelog)
  const page = (
    path: string,
    title: string,
    description: string,
    template: string,
    view: object,
  ): GuidePage => ({
    path,
    title,
    description,
    contentHtml: render(template, view) as SafeHtml,
    markdown: render(`${template}-markdown`, view),
  })
  return {
    pages: [
      page(
        'changelog',
        'Changelog',
        'Changes in each version, with reasons.',
        'guide-changelog',
        viewChangelog(changelog, upgrades, links),
      ),
      ...upgrades.map((each) =>
        page(
          pathOf(each),
          upgradeTitle(each),
          `Step-by-step migration of code that uses ${each.from}.`,
          'guide-upgrade',
          viewUpgrade(each, wire.versionHeader, links),
        ),
      ),
    ],
    upgrades: upgrades.map((each) => ({ path: pathOf(each), from: each.from, to: each.to })),
    feed: printFeed(changelog, links),
  }
}

const pathOf = ({ from, to }: Upgrade): string => `upgrading/${from}/${to}`
