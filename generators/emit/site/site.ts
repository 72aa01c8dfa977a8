/** The documentation: reference of every version, in one frame with whatever else there is to read. */
import { createHash } from 'node:crypto'
import { readAsset } from '../../assets/assets.ts'
import type { LoadedChange } from '../../change/load-changes.ts'
import type { Api, OutputFile } from '../../ir/model.ts'
import { type WireConfig, wireOf } from '../client/wire.ts'
import { curlOf } from '../reference/curl.ts'
import type { Html } from '../reference/html.ts'
import { renderMarkdown } from '../reference/markdown.ts'
import type { Language } from '../reference/page.ts'
import { statusOf } from '../reference/page-view.ts'
import { pythonOf } from '../reference/python.ts'
import { typescriptOf } from '../reference/typescript.ts'
import { render } from '../templates/templates.ts'
import { framePage, type Site, type SitePage } from './frame.ts'
import { CHANGELOG, FEED, guidePages } from './guide-pages.ts'
import { readHistories } from './history.ts'
import { indexVersion, versionPages } from './version-pages.ts'

/** Folder of the output that all pages are in, each where its address says. */
export const SITE_FOLDER = 'site'

/** Where the documentation is served. */
const HOME = '/docs'

export interface SiteSettings {
  readonly wire?: WireConfig | undefined
  /** The package of the client, if there is one. */
  readonly client?: string | undefined
  /** Between the versions: what changelog and migration guides are made of. */
  readonly changes?: readonly LoadedChange[]
}

/** @param apis all versions, oldest first. @returns pages and what they load, below `site/`. */
export function emitSite(apis: readonly Api[], settings: SiteSettings = {}): OutputFile[] {
  const newest = apis.at(-1)
  if (!newest) return []
  const style = readAsset('emit/site/assets/site.css')
  const { pages, feed } = sitePages(apis, newest, settings)
  const site: Site = {
    title: newest.title,
    home: HOME,
    sections: [
      { name: 'Documentation', href: HOME },
      { name: 'API reference', href: `${HOME}/${encodeURIComponent(newest.version)}` },
      { name: CHANGELOG, href: `${HOME}/changelog` },
    ],
    style: assetHref('site.css', style),
    scripts: [],
    feed: feed === undefined ? undefined : FEED,
  }
  return [
    { path: `${SITE_FOLDER}/assets/site.css`, text: style },
    ...(feed === undefined ? [] : [{ path: `${SITE_FOLDER}${FEED}`, text: feed }]),
    ...pages.flatMap((page) => {
      const file = `${SITE_FOLDER}/${page.path === '' ? 'index' : page.path}`
      const twin = page.markdown === undefined ? [] : [{ path: `${file}.md`, text: page.markdown }]
      return [{ path: `${file}.html`, text: framePage(site, page) }, ...twin]
    }),
  ]
}

function sitePages(apis: readonly Api[], newest: Api, { wire, client, changes = [] }: SiteSettings) {
  const versionSettings = {
    apis,
    wire: wireOf(wire ?? {}),
    home: HOME,
    languages: languagesFor(client),
    histories: readHistories(apis),
    errorsHref: undefined,
  }
  const all = apis.map((api) => indexVersion(api, versionSettings))
  const guides = guidePages(all, changes, client, versionSettings)
  const pages: readonly SitePage[] = [
    landingPage(apis, newest),
    ...all.flatMap((index) => versionPages(index, all, versionSettings)),
    ...guides.pages,
  ]
  return { pages, feed: guides.feed }
}

function languagesFor(client: string | undefined): Language[] {
  return [
    { title: 'curl', print: curlOf },
    ...(client === undefined
      ? []
      : [
          {
            title: 'TypeScript',
            print: ((page, operation) => typescriptOf(page, operation, client)) satisfies Language['print'],
          },
        ]),
    { title: 'Python', print: pythonOf },
  ]
}

function landingPage(apis: readonly Api[], newest: Api): SitePage {
  const versions = apis
    .map((api) => ({
      version: api.version,
      href: `${HOME}/${encodeURIComponent(api.version)}`,
      status: statusOf(api),
      operations: api.operations.length,
      events: api.events.length,
    }))
    .toReversed()
  return {
    path: '',
    title: newest.title,
    description: `Documentation of the ${newest.title}.`,
    section: 'Documentation',
    navigation: [
      {
        title: 'API reference',
        links: versions.map(({ version, href }) => ({ label: `Version ${version}`, href })),
      },
    ],
    versions: [],
    contentHtml: render('site-landing', {
      title: newest.title,
      textHtml: renderMarkdown(newest.description, 1),
      versions,
    }) as Html,
  }
}

/** An address that changes with the text, so that it may be kept for ever. */
function assetHref(name: string, text: string): string {
  return `${HOME}/assets/${name}?v=${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}
