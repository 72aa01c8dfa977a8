/** Emits the reference of one version: its first page, a page for each tag, and pages of shared parts. */

import type { Wire } from '../../client-runtime/service.ts'
import type { Api } from '../../ir/model.ts'
import type { SafeHtml } from '../reference/html.ts'
import { renderInline } from '../reference/markdown.ts'
import { CONVENTIONS, createPage, type Language, SHARED_SCHEMAS, WEBHOOK_EVENTS } from '../reference/page.ts'
import { statusOf, viewVersion } from '../reference/page-view.ts'
import type { OperationView, ReferenceEventView, TagView, VersionView } from '../reference/views.ts'
import { render } from '../templates/templates.ts'
import type { NavigationGroup, NavigationLink, SitePage, VersionLink } from './frame.ts'
import type { Histories, History } from './history.ts'

export interface VersionSettings {
  readonly apis: readonly Api[]
  readonly wire: Wire
  /** Base path of the documentation. */
  readonly home: string
  readonly languages: readonly Language[]
  readonly histories: Histories
  /** Address of the page of error codes; undefined if there is none. */
  readonly errorsHref: string | undefined
  /** Address of the page about installing clients; undefined if there is none. */
  readonly clientsHref: string | undefined
}

/** The views of one version by name, for links between versions. */
export interface VersionIndex {
  readonly api: Api
  readonly view: VersionView
  readonly operations: ReadonlyMap<string, OperationView>
  readonly events: ReadonlyMap<string, ReferenceEventView>
}

export function indexVersion(api: Api, settings: VersionSettings): VersionIndex {
  const page = createPage(api, settings.wire, homeOf(settings, api.version), settings.languages)
  const view = viewVersion(page, settings.apis, settings.home)
  const ids = api.operations.map(({ id }) => [id, page.anchor('operation', id)] as const)
  const operations = new Map(view.tags.flatMap((tag) => tag.operations).map((each) => [each.id, each]))
  return {
    api,
    view,
    operations: new Map(ids.flatMap(([id, anchor]) => [[id, operations.get(anchor)!] as const])),
    events: new Map(view.tags.flatMap((tag) => tag.events).map((each) => [each.name, each])),
  }
}

const homeOf = ({ home }: VersionSettings, version: string): string =>
  `${home}/${encodeURIComponent(version)}`

/** @param all every version, oldest first. */
export function versionPages(
  index: VersionIndex,
  all: readonly VersionIndex[],
  settings: VersionSettings,
): SitePage[] {
  const { view } = index
  const { errorsHref, clientsHref } = settings
  const home = homeOf(settings, view.version)
  const navigation = navigationOf(view, home)
  const page = (slug: string, title: string, description: string, template: string, content: object) => ({
    path: slug === '' ? view.version : `${view.version}/${slug}`,
    title: `${title} · ${view.version}`,
    description,
    section: 'API reference',
    navigation,
    versions: versionLinks(slug, view, all, settings),
    contentHtml: render(template, { ...view, home, errorsHref, clientsHref, ...content }) as SafeHtml,
  })
  const events = view.tags.flatMap((tag) => tag.events)
  return [
    page('', 'API reference', `All operations of version ${view.version}.`, 'reference-overview', {}),
    page(
      CONVENTIONS,
      'Requests and responses',
      'Authentication, headers and responses that all operations share.',
      'reference-conventions',
      {},
    ),
    ...view.tags.map((tag) =>
      page(
        slugOf(tag, home),
        tag.title,
        tag.summary,
        'reference-family',
        familyView(tag, index, all, settings),
      ),
    ),
    ...(events.length > 0
      ? [
          page(WEBHOOK_EVENTS, 'Webhook events', 'All event types that are delivered.', 'reference-events', {
            events,
          }),
        ]
      : []),
    ...(view.schemas.length > 0
      ? [
          page(
            SHARED_SCHEMAS,
            'Shared schemas',
            'Schemas that several groups of operations use.',
            'reference-schemas',
            {},
          ),
        ]
      : []),
  ]
}

const slugOf = ({ href }: TagView, home: string): string => href.slice(home.length + 1)

function familyView(
  tag: TagView,
  index: VersionIndex,
  all: readonly VersionIndex[],
  { histories }: VersionSettings,
): object {
  const { version } = index.view
  const ids = new Map([...index.operations].map(([id, view]) => [view, id]))
  return {
    family: tag.title,
    textHtml: tag.textHtml,
    operations: tag.operations.map((each) => ({
      ...each,
      ...viewHistory(
        histories.ofOperation(version, ids.get(each) ?? ''),
        (at, name) => all.find(({ api }) => api.version === at)?.operations.get(name)?.href,
      ),
    })),
    events: tag.events.map((each) => ({
      ...each,
      ...viewHistory(
        histories.ofEvent(version, each.name),
        (at, name) => all.find(({ api }) => api.version === at)?.events.get(name)?.href,
      ),
    })),
    schemas: tag.schemas,
  }
}

/** Builds the history of an operation or event, with the differences of the version shown unfolded. */
function viewHistory(
  { counterparts, steps }: History,
  hrefOf: (version: string, name: string) => string | undefined,
): object {
  return {
    versions: counterparts.map(({ version, name, current, differs }) => ({
      version,
      href: name === undefined ? undefined : hrefOf(version, name),
      current,
      differs,
    })),
    steps: steps.map(({ version, lines }) => ({
      version,
      lines: lines.map(({ where, what }) => ({ where, whatHtml: renderInline(what) })),
    })),
  }
}

function navigationOf(view: VersionView, home: string): NavigationGroup[] {
  const families = view.tags.map((tag) => ({ label: tag.title, href: tag.href, links: familyLinks(tag) }))
  return [
    {
      title: `Version ${view.version}`,
      links: [
        { label: 'Overview', href: home },
        { label: 'Requests and responses', href: `${home}/${CONVENTIONS}` },
        ...(view.tags.some((tag) => tag.events.length > 0)
          ? [{ label: 'Webhook events', href: `${home}/${WEBHOOK_EVENTS}` }]
          : []),
        ...(view.schemas.length > 0 ? [{ label: 'Shared schemas', href: `${home}/${SHARED_SCHEMAS}` }] : []),
      ],
    },
    { title: 'Operations', links: families },
  ]
}

function familyLinks({ operations, schemas, events }: TagView): NavigationLink[] {
  return [
    ...operations.map(({ title, href, method }) => ({ label: title, href, method })),
    ...schemas
      .filter(({ composite }) => composite)
      .map(({ name, href }) => ({ label: name, href, method: 'type' })),
    ...events.map(({ name, href }) => ({ label: name, href, method: 'event' })),
  ]
}

/** Returns links to other versions, newest first: to the same page if the version has it, else to its first page. */
function versionLinks(
  slug: string,
  shown: VersionView,
  all: readonly VersionIndex[],
  settings: VersionSettings,
): VersionLink[] {
  return all
    .map(({ api, view }) => {
      const home = homeOf(settings, api.version)
      const special =
        slug === CONVENTIONS ||
        (slug === SHARED_SCHEMAS && view.schemas.length > 0) ||
        (slug === WEBHOOK_EVENTS && api.events.length > 0)
      const there = special || view.tags.some((tag) => slugOf(tag, home) === slug)
      return {
        version: api.version,
        href: there ? `${home}/${slug}` : home,
        status: statusOf(api),
        current: api.version === shown.version,
      }
    })
    .toReversed()
}
