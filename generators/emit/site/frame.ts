/** Renders the frame of every documentation page: head, navigation, version switch. */
import type { SafeHtml } from '../reference/html.ts'
import { render } from '../templates/templates.ts'

export interface NavigationLink {
  readonly label: string
  readonly href: string
  /** HTTP method, if the link leads to an operation. */
  readonly method?: string
  /** Sections of the page, shown below the link to it. */
  readonly links?: readonly NavigationLink[]
}

export interface NavigationGroup {
  readonly title: string
  readonly links: readonly NavigationLink[]
}

/** A link to the same page in a different version, or to that version's first page. */
export interface VersionLink {
  readonly version: string
  readonly href: string
  readonly status: string
  readonly current: boolean
}

export interface SitePage {
  /** Path below the documentation: `2026-05-19/passes`; empty for the first page. */
  readonly path: string
  readonly title: string
  /** One sentence, for search results and `llms.txt`. */
  readonly description: string
  /** Starts with the `h1`. */
  readonly contentHtml: SafeHtml
  /** The page as Markdown, if it was written as Markdown. */
  readonly markdown?: string
  /** The section of the header that is highlighted. */
  readonly section: string
  readonly navigation: readonly NavigationGroup[]
  readonly versions: readonly VersionLink[]
}

export interface DocsSite {
  /** Title of the documentation. */
  readonly title: string
  /** Address of the first page: `/docs`. */
  readonly home: string
  readonly sections: readonly { readonly name: string; readonly href: string }[]
  readonly style: string
  readonly icon: string
  readonly scripts: readonly string[]
  /** The server that samples are sent to, without a trailing slash. */
  readonly server: string | undefined
  readonly feed: string | undefined
  /** Addresses of the search library, the search index, and the texts that results show. */
  readonly searchLibrary: string
  readonly searchIndex: string
  readonly searchTexts: string
}

/** Returns the complete page. It makes no external requests and is readable without scripts. */
export function framePage(site: DocsSite, page: SitePage): string {
  const here = page.path === '' ? site.home : `${site.home}/${page.path}`
  return render('site-frame', {
    ...site,
    pageTitle: page.path === '' ? `${site.title}: documentation` : `${page.title} · ${site.title}`,
    description: page.description,
    contentHtml: page.contentHtml,
    markdownHref: page.path === '' ? `${here}/index.md` : `${here}.md`,
    sections: site.sections.map((each) => ({ ...each, current: each.name === page.section })),
    navigation: page.navigation.map(({ title, links }) => ({
      title,
      links: links.map((each) => viewLink(each, here)),
    })),
    versions: page.versions,
  })
}

function viewLink({ label, href, method, links = [] }: NavigationLink, here: string): object {
  return {
    label,
    href,
    method,
    methodClass: method?.toLowerCase(),
    current: href === here,
    // Only the current page's sections are listed, so that pages stay small.
    links: href === here ? links.map((each) => viewLink(each, '')) : [],
  }
}
