/** Makes the documentation of the toolkit as static files: pages, search and the playground. They need no server. */

import type { SafeHtml } from '../../../generators/emit/reference/html.ts'
import type { DocsSite, SitePage } from '../../../generators/emit/site/frame.ts'
import { framePage } from '../../../generators/emit/site/frame.ts'
import { renderPage } from '../../../generators/emit/site/page-markdown.ts'
import { printSearch } from '../../../generators/emit/site/search.ts'
import { assetHref, HOME, sharedAssets } from '../../../generators/emit/site/shared-assets.ts'
import type { OutputFile } from '../../../generators/ir/model.ts'
import { exportSite } from '../../../generators/output/export-site.ts'
import { readPages, type ToolkitPage } from './pages.ts'
import { buildPlayground } from './playground.ts'

const SECTION = 'Documentation'
const PLAYGROUND = 'playground'

/** Returns all files, by path below the folder of the site. */
export async function buildSite(): Promise<OutputFile[]> {
  const sources = readPages()
  const playground = await buildPlayground()
  const pages = sources.map((source) => pageOf(source, sources, playground.html))
  const shared = sharedAssets()
  const search = printSearch(pages.slice(1), HOME)
  const assets = {
    ...shared,
    'search-index.js': search.index,
    'search-texts.js': search.texts,
    'playground.css': shared['site.css'] + playground.style,
    'playground.js': playground.script,
  }
  const hrefOf = (name: keyof typeof assets) => assetHref(name, assets[name])
  const site: DocsSite = {
    title: 'dateline',
    home: HOME,
    sections: [
      { name: SECTION, href: HOME },
      { name: 'Lenses', href: `${HOME}/lenses` },
      { name: 'Playground', href: `${HOME}/${PLAYGROUND}` },
    ],
    style: hrefOf('site.css'),
    icon: hrefOf('favicon.svg'),
    scripts: [hrefOf('site.js')],
    server: undefined,
    feed: undefined,
    searchLibrary: hrefOf('minisearch.js'),
    searchIndex: hrefOf('search-index.js'),
    searchTexts: hrefOf('search-texts.js'),
  }
  const playgroundSite = {
    ...site,
    style: hrefOf('playground.css'),
    scripts: [...site.scripts, hrefOf('playground.js')],
  }
  const files = [
    ...Object.entries(assets).map(([name, text]) => ({ path: `assets/${name}`, text })),
    ...pages.flatMap((page) => {
      const name = page.path === '' ? 'index' : page.path
      return [
        { path: `${name}.html`, text: framePage(page.path === PLAYGROUND ? playgroundSite : site, page) },
        { path: `${name}.md`, text: page.markdown ?? '' },
      ]
    }),
  ]
  return exportSite(
    files.map(({ path, text }) => ({ path: `site/${path}`, text })),
    [],
  )
}

function pageOf(source: ToolkitPage, sources: readonly ToolkitPage[], playground: string): SitePage {
  const { slug, title, description, markdown } = source
  const content = renderPage(markdown)
  return {
    path: slug,
    title,
    description,
    section: slug === PLAYGROUND ? 'Playground' : slug === 'lenses' ? 'Lenses' : SECTION,
    navigation: navigationOf(sources),
    versions: [],
    markdown,
    contentHtml: slug === PLAYGROUND ? (`${content}\n${playground}` as SafeHtml) : content,
  }
}

function navigationOf(sources: readonly ToolkitPage[]) {
  const listed = sources.filter(({ slug }) => slug !== '')
  return [...new Set(listed.map(({ group }) => group))].map((title) => ({
    title,
    links: listed
      .filter(({ group }) => group === title)
      .map((page) => ({ label: page.title, href: `${HOME}/${page.slug}` })),
  }))
}
