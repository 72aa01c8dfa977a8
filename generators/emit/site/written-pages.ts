/**
 * Renders hand-written pages: Handlebars templates produce Markdown, from which the page and its Markdown version
 * are made.
 */
import Handlebars from 'handlebars'
import type { Api } from '../../ir/model.ts'
import { signatureHeaderOf } from '../client/webhooks.ts'
import type { SafeHtml } from '../reference/html.ts'
import type { Language, ReferencePage } from '../reference/page.ts'
import { sampleContent } from '../reference/sample.ts'
import { type ErrorEntry, readErrors } from './errors.ts'
import { renderPage } from './page-markdown.ts'
import type { PageSources } from './page-sources.ts'

export interface WrittenPage {
  readonly slug: string
  readonly title: string
  readonly description: string
  /** The navigation group of the page. */
  readonly group: string
  readonly contentHtml: SafeHtml
  readonly markdown: string
}

export interface WrittenContext {
  readonly apis: readonly Api[]
  /** Addresses and samples of the newest version. */
  readonly page: ReferencePage
  readonly languages: readonly Language[]
  readonly client: string | undefined
  readonly home: string
}

/** The first line of a page names its group: `{{!-- Basics --}}`. */
const GROUP = /^\{\{!--\s*(.+?)\s*--\}\}\n/

/**
 * Renders all pages.
 *
 * @throws an error that names the page, if it refers to something that the API does not have.
 */
export function writtenPages({ pages, files }: PageSources, context: WrittenContext): WrittenPage[] {
  if (pages.length === 0) return []
  const handlebars = Handlebars.create()
  handlebars.registerHelper(helpersOf(files, context))
  const view = viewOf(files, context)
  return pages.map(({ slug, text }) => {
    try {
      const markdown = handlebars.compile(text, { noEscape: true, strict: true })(view)
      return pageOf(slug, GROUP.exec(text)?.[1] ?? 'Guides', `${markdown.trim()}\n`)
    } catch (cause) {
      throw new Error(`page ${slug}: ${(cause as Error).message}`, { cause })
    }
  })
}

function pageOf(slug: string, group: string, markdown: string): WrittenPage {
  const [, title = slug, first = ''] = /^# (.+)\n+(.*(?:\n.+)*)/.exec(markdown) ?? []
  return { slug, group, title, description: plain(first), contentHtml: renderPage(markdown), markdown }
}

const plain = (text: string): string =>
  text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')

function viewOf(files: PageSources['files'], { apis, page, client, home }: WrittenContext): object {
  const { api } = page
  const remedies = JSON.parse(files['errors.json'] ?? '{}') as Readonly<Record<string, ErrorEntry>>
  const [sandbox = '', live = ''] = api.servers.map(({ url }) => url)
  return {
    title: api.title,
    current: api.version,
    client,
    home,
    sandbox,
    live,
    versions: apis
      .map(({ version, info, events, operations }) => ({
        version,
        status: info['x-status'],
        sunset: dayOf(info['x-sunset']),
        operations: operations.length,
        events: events.map(({ name }) => name),
      }))
      .toReversed(),
    signatureHeaders: apis
      .map((each) => ({ version: each.version, header: signatureHeaderOf(each) }))
      .toReversed(),
    errors: readErrors(apis, page.wire, remedies),
    eventTypes: api.events.map(({ name, description }) => ({
      name,
      description: description ?? '',
      since: apis.find(({ events }) => events.some((each) => each.name === name))?.version,
      href: page.href('event', name),
    })),
  }
}

const dayOf = (instant: unknown): string => (typeof instant === 'string' ? instant.slice(0, 10) : '')

function helpersOf(files: PageSources['files'], { apis, page, languages, home }: WrittenContext) {
  const { api } = page
  const operationOf = (id: string) => {
    const operation = api.operations.find((each) => each.id === id)
    if (!operation) throw new Error(`operation ${id} does not exist`)
    return operation
  }
  return {
    operation: (id: string) => `[${operationOf(id).summary ?? id}](${page.href('operation', id)})`,
    path: (id: string) =>
      `[\`${operationOf(id).method} ${operationOf(id).path}\`](${page.href('operation', operationOf(id).id)})`,
    schema: (name: string) => {
      if (!api.schemas.has(name)) throw new Error(`schema ${name} does not exist`)
      return `[${name}](${page.href('schema', name)})`
    },
    enumeration: (name: string) => enumerationOf(api, name),
    // `keep="ITEM_ID"` stores the response's id in a shell variable, and `item_id="ITEM_ID"` reads it.
    request: (id: string, { hash: { keep, ...variables } }: { hash: Readonly<Record<string, string>> }) =>
      languages
        .map(({ title, fence: language, print }) =>
          fence(`${language} ${title}`, print({ ...page, keep, variables }, operationOf(id))),
        )
        .join('\n\n'),
    payload: (name: string, version: string) => fence('json', payloadOf(apis, name, version)),
    file: (name: string, title: string) => {
      const text = files[name]
      if (text === undefined) throw new Error(`file ${name} does not exist`)
      return fence(`${/\.(\w+)$/.exec(name)?.[1] ?? ''} ${title}`, text.trimEnd())
    },
    page: (slug: string, title: string) => `[${title}](${home}/${slug})`,
  }
}

const fence = (info: string, text: string): string => `\`\`\`${info}\n${text}\n\`\`\``

function enumerationOf(api: Api, name: string): string {
  const schema = api.schemas.get(name)
  if (schema?.kind !== 'enum') throw new Error(`enumeration ${name} does not exist`)
  const meanings = schema.extensions['x-enumDescriptions'] as Readonly<Record<string, string>> | undefined
  return schema.values.map((value) => `- \`${value}\`: ${meanings?.[String(value)] ?? ''}`).join('\n')
}

function payloadOf(apis: readonly Api[], name: string, version: string): string {
  const api = apis.find((each) => each.version === version)
  const payload = api?.events.find((each) => each.name === name)?.payload
  if (!api || !payload) throw new Error(`version ${version} has no event ${name}`)
  return JSON.stringify(sampleContent(api, payload, 'writeOnly'), null, 2)
}
