/** Tools that search and read the documentation, whose pages the site serves as Markdown. */
import { anchorOf } from '../emit/site/page-markdown.ts'
import { FENCED, type SearchHit } from '../emit/site/search.ts'
import { HOME } from '../emit/site/shared-assets.ts'
import { failure, type ServedTool, text } from './server.ts'
import { DOCS_TOOLS } from './tools.ts'

/** The generated documentation. */
export interface DocsPages {
  /** Markdown, by address: `/docs/quick-start`. */
  readonly pages: ReadonlyMap<string, string>
  search(words: string): readonly SearchHit[]
}

const HITS = 10

/** Characters of a page that one call returns. */
const MAX_PAGE = 30_000

const INDEX = `${HOME}/llms.txt`

/**
 * Returns the tools.
 *
 * @param version its operations can be read by their ids.
 * @param load generates the documentation. It is called once, by the first call of a tool.
 */
export function createDocsTools(version: string, load: () => Promise<DocsPages>): ServedTool[] {
  let loaded: Promise<DocsPages> | undefined
  const docs = () => (loaded ??= load())
  const [search, read] = DOCS_TOOLS
  return [
    {
      tool: {
        ...describe(
          search,
          'Search the guides, and the operations, events, schemas and errors of the newest version.',
        ),
        inputSchema: inputOf('words', 'Words to find, such as `idempotency` or `issue a pass`.', true),
      },
      async call({ words }) {
        const hits = (await docs()).search(String(words)).slice(0, HITS)
        const lines = hits.map(({ title, kind, href }) => `- [${title}](${href}): ${kind}`)
        return { content: [text(lines.join('\n') || 'No results. Use fewer or different words.')] }
      },
    },
    {
      tool: {
        ...describe(
          read,
          'Read a page of the documentation, one of its sections, or the reference of an operation.',
        ),
        inputSchema: inputOf(
          'page',
          `The address of a result of ${search}, with its fragment, or the id of an operation. Default: the list of all pages.`,
          false,
        ),
      },
      async call({ page = INDEX }) {
        const { pages } = await docs()
        const overview = pages.get(`${HOME}/${encodeURIComponent(version)}`) ?? ''
        const [address, anchor] = addressOf(String(page), overview)
        const found = pages.get(address)
        if (found === undefined) return failure(`There is no page ${address}. ${INDEX} lists all pages.`)
        const shown = anchor === undefined ? found : sectionOf(found, address, anchor)
        if (shown === undefined) return failure(`The page ${address} has no section ${anchor}.`)
        const rest = shown.length > MAX_PAGE ? '\n\nThe page continues. Read its sections one by one.' : ''
        return { content: [text(shown.slice(0, MAX_PAGE) + rest)] }
      },
    },
  ]
}

const describe = (name: string, description: string) => ({
  name,
  description,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
})

const inputOf = (name: string, description: string, isRequired: boolean) => ({
  type: 'object' as const,
  properties: { [name]: { type: 'string', description } },
  ...(isRequired && { required: [name] }),
  additionalProperties: false,
})

/** Returns an address without its suffix, and its fragment. @param overview the page with links to all operations. */
function addressOf(page: string, overview: string): readonly [string, string | undefined] {
  const links = [...overview.matchAll(/\]\(([^)\s#]+)#([^)\s]+)\)/g)]
  const [, path = '', anchor] = links.find(([, , id]) => id === page) ?? /^([^#]*)#?(.*)$/.exec(page)!
  return [path.replace(/(?<=.)\/$|\.md$/, ''), anchor || undefined]
}

/** Returns the section with the heading of a fragment: the text of the page's links to it begins with method and path. */
function sectionOf(page: string, address: string, anchor: string): string | undefined {
  const link = page
    .split('\n')
    .find((line) => line.startsWith('- [') && line.endsWith(`](${address}#${anchor})`))
  const linked = link && /^- \[(?:[A-Z]+ `[^`]*` )?(.*)\]\(/.exec(link)?.[1]
  const names = [linked, anchor, anchor.replace(/^[a-z]+-/, '')]
  // Comments in code samples are not headings.
  const lines = page.replace(FENCED, (code) => code.replaceAll(/^#/gm, ' ')).split('\n')
  const start = lines.findIndex((line) => {
    const heading = /^#{2,} (.*)/.exec(line)?.[1]?.replace(/[`*]/g, '')
    return heading !== undefined && names.some((name) => name && isNamed(heading, name))
  })
  if (start < 0) return undefined
  const level = lines[start]!.indexOf(' ')
  const end = lines.findIndex((line, at) => at > start && /^#+ /.test(line) && line.indexOf(' ') <= level)
  return page
    .split('\n')
    .slice(start, end < 0 ? undefined : end)
    .join('\n')
    .trim()
}

/** Headings of schemas end with the type. */
const isNamed = (heading: string, name: string): boolean =>
  heading === name || heading.startsWith(`${name} `) || anchorOf(heading) === name
