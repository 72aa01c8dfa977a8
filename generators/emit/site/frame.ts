/** The frame that every page of the documentation stands in: head, navigation, version switch. */
import type { SafeHtml } from '../reference/html.ts'
import { render } from '../templates/templates.ts'

export interface NavigationLink {
  readonly label: string
  readonly href: string
  /** `GET`, where it leads to an operation. */
  readonly method?: string
  /** What the page itself is made of; shown below the link to it. */
  readonly links?: readonly NavigationLink[]
}

export interface NavigationGroup {
  readonly title: string
  readonly links: readonly NavigationLink[]
}

/** The same page in another version, or that version's first page. */
export interface VersionLink {
  readonly version: string
  readonly href: string
  readonly status: string
  readonly current: boolean
}

/** What a page holds, for the frame. */
export interface SitePage {
  /** Below the documentation's own address: `2026-05-19/passes`; empty for the first page. */
  readonly path: string
  readonly title: string
  /** One sentence: for results of searches, and `llms.txt`. */
  readonly description: string
  /** From its `h1` on. */
  readonly contentHtml: SafeHtml
  /** The same as plain text, where it was written as such. */
  readonly markdown?: string
  /** Which link of the header it belongs to. */
  readonly section: string
  readonly navigation: readonly NavigationGroup[]
  readonly versions: readonly VersionLink[]
}

export interface DocsSite {
  /** What the documentation is of. */
  readonly title: string
  /** Address of its first page: `/docs`. */
  readonly home: string
  readonly sections: readonly { readonly name: string; readonly href: string }[]
  readonly style: string
  readonly icon: string
  readonly scripts: readonly string[]
  /** Where readers may send samples from a page that is served, without a slash at its end. */
  readonly server: string | undefined
  readonly feed: string | undefined
  /** Addresses of the script that searches, and of what it searches. */
  readonly searchLibrary: string
  readonly searchIndex: string
}

/** @returns the whole page: no outside request, readable without scripts. */
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
    // Only what the reader is at is unfolded: pages stay small.
    links: href === here ? links.map((each) => viewLink(each, '')) : [],
  }
}
