/** Emits the documentation: the reference of every version, guides and hand-written pages. */
import { dump } from 'js-yaml'
import { readAsset } from '../../assets/assets.ts'
import type { LoadedChange } from '../../change/load-changes.ts'
import type { Wire } from '../../client-runtime/service.ts'
import type { Api, OutputFile } from '../../ir/model.ts'
import { printBruno } from '../collections/bruno.ts'
import { collectionOf } from '../collections/collection.ts'
import { printPostman } from '../collections/postman.ts'
import { withWebhookUnion } from '../documents/webhook-union.ts'
import type { SafeHtml } from '../reference/html.ts'
import { languagesFor } from '../reference/languages.ts'
import { renderMarkdown } from '../reference/markdown.ts'
import { createPage } from '../reference/page.ts'
import { statusOf } from '../reference/page-view.ts'
import { render } from '../templates/templates.ts'
import { type WireConfig, wireOf } from '../wire/wire.ts'
import { type DocsSite, framePage, type NavigationGroup, type SitePage } from './frame.ts'
import { CHANGELOG, FEED, guidePages } from './guide-pages.ts'
import { readHistories } from './history.ts'
import { printIndex } from './llms.ts'
import { neutralise } from './neutral-markdown.ts'
import type { PageSources } from './page-sources.ts'
import { toMarkdown } from './plain-text.ts'
import { printSearch } from './search.ts'
import { assetHref, HOME, sharedAssets } from './shared-assets.ts'
import { indexVersion, type VersionIndex, versionPages } from './version-pages.ts'
import { type WrittenPage, writtenPages } from './written-pages.ts'

/** Folder of the output that holds all pages; their paths match their addresses. */
export const SITE_FOLDER = 'site'

export interface SiteSettings {
  readonly wire?: WireConfig | undefined
  /** The client's npm package, if there is one. */
  readonly client?: string | undefined
  /** Changes, from which the changelog and migration guides are generated. */
  readonly changes?: readonly LoadedChange[]
  /** Hand-written pages. */
  readonly pages?: PageSources | undefined
}

/**
 * Emits pages and their assets, below `site/`.
 *
 * @param apis all versions, oldest first.
 */
export function emitSite(apis: readonly Api[], settings: SiteSettings = {}): OutputFile[] {
  const newest = apis.at(-1)
  if (!newest) return []
  const { pages, versions, feed } = sitePages(apis, newest, settings)
  const search = printSearch(pages, HOME, versions)
  const assets = {
    ...sharedAssets(),
    'try.js': readAsset('emit/site/assets/try.js'),
    'filter.js': readAsset('emit/site/assets/filter.js'),
    'search-index.js': search.index,
    'search-texts.js': search.texts,
  }
  const inMarkdown = languagesFor(settings.client).flatMap(({ title, inMarkdown }) =>
    inMarkdown ? title : [],
  )
  const hrefOf = (name: keyof typeof assets) => assetHref(name, assets[name])
  const site: DocsSite = {
    title: newest.title,
    home: HOME,
    sections: [
      { name: 'Documentation', href: HOME },
      { name: 'API reference', href: `${HOME}/${encodeURIComponent(newest.version)}` },
      { name: CHANGELOG, href: `${HOME}/changelog` },
    ],
    style: hrefOf('site.css'),
    icon: hrefOf('favicon.svg'),
    scripts: [hrefOf('site.js'), hrefOf('try.js'), hrefOf('filter.js')],
    server: newest.servers[0]?.url.replace(/\/$/, ''),
    feed: feed === undefined ? undefined : FEED,
    searchLibrary: hrefOf('minisearch.js'),
    searchIndex: hrefOf('search-index.js'),
    searchTexts: hrefOf('search-texts.js'),
  }
  return [
    ...Object.entries(assets).map(([name, text]) => ({ path: `${SITE_FOLDER}/assets/${name}`, text })),
    { path: `${SITE_FOLDER}/llms.txt`, text: neutralise(printIndex(site, pages)) },
    ...(feed === undefined ? [] : [{ path: `${SITE_FOLDER}${FEED}`, text: feed }]),
    ...apis.flatMap((api) => [printYaml(api), ...printCollections(api, wireOf(settings.wire ?? {}))]),
    ...pages.flatMap((page) => {
      const path = `${SITE_FOLDER}/${page.path === '' ? 'index' : page.path}`
      return [
        { path: `${path}.html`, text: framePage(site, page) },
        { path: `${path}.md`, text: neutralise(page.markdown ?? toMarkdown(page.contentHtml, inMarkdown)) },
      ]
    }),
  ]
}

/** Emits the document in YAML, with the same content as in JSON: defaults and aliases are expanded. */
const printYaml = (api: Api): OutputFile => ({
  path: `${SITE_FOLDER}/${api.version}/openapi.yaml`,
  text: dump(withWebhookUnion(api.document, api), { noRefs: true, lineWidth: 120 }),
})

/** Emits the requests of a version as collections for API clients. */
function printCollections(api: Api, wire: Wire): OutputFile[] {
  const collection = collectionOf(api, wire)
  const folder = `${SITE_FOLDER}/${api.version}`
  return [
    { path: `${folder}/postman.json`, text: printPostman(collection) },
    { path: `${folder}/bruno.json`, text: printBruno(collection) },
  ]
}

function sitePages(
  apis: readonly Api[],
  newest: Api,
  settings: SiteSettings,
): { pages: SitePage[]; versions: readonly VersionIndex[]; feed: string | undefined } {
  const wire = wireOf(settings.wire ?? {})
  const languages = languagesFor(settings.client)
  const written = writtenPages(settings.pages ?? { pages: [], files: {} }, {
    apis,
    page: createPage(newest, wire, `${HOME}/${encodeURIComponent(newest.version)}`, languages),
    languages,
    client: settings.client,
    home: HOME,
  })
  const pageOf = (wanted: string) =>
    written.some(({ slug }) => slug === wanted) ? `${HOME}/${wanted}` : undefined
  const versionSettings = {
    apis,
    wire,
    home: HOME,
    languages,
    histories: readHistories(apis),
    errorsHref: pageOf('errors'),
    clientsHref: pageOf('clients'),
  }
  const all = apis.map((api) => indexVersion(api, versionSettings))
  const guides = guidePages(all, settings.changes ?? [], settings.client, versionSettings)
  const navigation = writtenNavigation(written)
  const pages = [
    landingPage(apis, newest, navigation, written),
    ...written.map(({ slug, ...page }) => ({
      ...page,
      path: slug,
      section: 'Documentation',
      navigation,
      versions: [],
    })),
    ...all.flatMap((index) => versionPages(index, all, versionSettings)),
    ...guides.pages,
  ]
  return { pages, versions: all, feed: guides.feed }
}

function writtenNavigation(pages: readonly WrittenPage[]): NavigationGroup[] {
  const groups = [...new Set(pages.map(({ group }) => group))]
  return groups.map((title) => ({
    title,
    links: pages
      .filter(({ group }) => group === title)
      .map((page) => ({ label: page.title, href: `${HOME}/${page.slug}` })),
  }))
}

function landingPage(
  apis: readonly Api[],
  newest: Api,
  navigation: readonly NavigationGroup[],
  written: readonly WrittenPage[],
): SitePage {
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
    navigation,
    versions: [],
    contentHtml: render('site-landing', {
      title: newest.title,
      leadHtml: renderMarkdown(newest.description?.split('\n\n')[0], 1),
      groups: navigation.map(({ title, links }) => ({
        title,
        pages: links.map(({ label, href }) => ({
          label,
          href,
          description: written.find(({ slug }) => href === `${HOME}/${slug}`)?.description ?? '',
        })),
      })),
      versions,
    }) as SafeHtml,
  }
}
