/** Builds the views for the changelog and guide templates. Each text is rendered as HTML and as Markdown. */

import { escapeCode, fragment, html, joinHtml, type SafeHtml } from '../reference/html.ts'
import { renderInline, renderMarkdown } from '../reference/markdown.ts'
import type { Changelog, ChangelogEntry, Effect, Release, Upgrade } from './changelog.ts'
import type { BeforeAfter, Sample } from './sample.ts'

/** Addresses of documentation pages, for links. */
export interface DocsLinks {
  readonly changelog: string
  /** The page about installing the client; undefined if there is none. */
  readonly clients: string | undefined
  readonly feed: string
  upgrade(from: string, to: string): string
  operation(version: string, id: string): string
  event(version: string, name: string): string
}

const EFFECTS: Readonly<Record<Effect, string>> = {
  requests: 'requests',
  answers: 'responses',
  deliveries: 'event deliveries',
  behaviour: 'request behavior',
  additions: 'new values only',
}

/** Maximum number of operations to list without unfolding. */
const LISTED = 6

export function viewEntry(entry: ChangelogEntry, links: DocsLinks, level: number) {
  const { id, version, title, why, samples } = entry
  const operations = entry.operations.map((name) => ({ name, href: links.operation(version, name) }))
  const events = entry.everyEvent
    ? []
    : entry.events.map((name) => ({ name, href: links.event(version, name) }))
  return {
    anchor: anchorOf(entry),
    level,
    version,
    id,
    title,
    whyHtml: renderMarkdown(why, level),
    why,
    tags: tagsText(entry.tags),
    effects: entry.effects.map((each) => EFFECTS[each]).join(', '),
    everyEvent: entry.everyEvent,
    lists: [listView('operation', 'Operations', operations), listView('event type', 'Events', events)].filter(
      ({ items }) => items.length > 0,
    ),
    examples: entry.examples.map((each) => ({
      schema: each.schema,
      ...beforeAfter({ before: shorten(each.before), after: shorten(each.after) }),
    })),
    samples: samples.map(viewSample),
    // A change without examples shows the first sample of its use.
    shown: entry.examples.length > 0 ? [] : samples.slice(0, 1).map(viewSample),
  }
}

/** Names of tags in an attribute. They can contain spaces. */
const tagsText = (tags: readonly string[]): string => JSON.stringify(tags)

export const anchorOf = ({ version, id }: Pick<ChangelogEntry, 'version' | 'id'>): string =>
  fragment(`${version}-${id}`)

function listView(thing: string, label: string, items: readonly { name: string; href: string }[]) {
  return {
    label,
    items,
    folded: items.length > LISTED,
    count: `${items.length} ${items.length === 1 ? thing : thing.replace(/^(type|operation)/, '$1s')}`,
    markdown: items.map(({ name }) => `\`${name}\``).join(', '),
  }
}

function viewSample({ title, added, curl, typescript, answer }: Sample) {
  const blocks = [
    curl && { language: 'curl', fence: 'sh', ...beforeAfter(curl) },
    typescript && { language: 'TypeScript', fence: 'ts', ...beforeAfter(typescript) },
    answer && { language: 'Response', fence: 'json', ...beforeAfter(answer) },
  ]
  return { titleHtml: renderInline(title), title, added, blocks: blocks.filter((each) => each !== undefined) }
}

/** Marks lines that the other side does not have. */
function beforeAfter({ before, after }: BeforeAfter) {
  return { before, after, beforeHtml: marked(before, after), afterHtml: marked(after, before) }
}

function marked(text: string, other: string): SafeHtml {
  const known = new Set(other.split('\n'))
  const lines = text.split('\n').map((line) => {
    const shown = escapeCode(line)
    return known.has(line) ? shown : html`<mark>${[shown]}</mark>`
  })
  return joinHtml(lines, '\n')
}

const MEMBERS = 4

/** Returns JSON on several lines. Long lists are cut, and the number of omitted items is shown. */
export function shorten(value: unknown): string {
  const text = JSON.stringify(
    value,
    (_name, each: unknown) =>
      Array.isArray(each) && each.length > MEMBERS * 2
        ? [...each.slice(0, MEMBERS), `… ${each.length - MEMBERS} more`]
        : each,
    2,
  )
  return text.replace(/"(… \d+ more)"/g, '$1')
}

export function viewRelease(release: Release, links: DocsLinks, level: number) {
  const { version, previous, status, operations, events, others } = release
  return {
    version,
    previous,
    status,
    anchor: fragment(version),
    upgradeHref: previous === undefined ? undefined : links.upgrade(previous, version),
    changes: release.changes.map((each) => viewEntry(each, links, level + 1)),
    additions: operations.length + events.length + others.length,
    operations: operations.map((each) => ({
      ...each,
      tags: tagsText([each.tag]),
      href: links.operation(version, each.id),
    })),
    events: events.map(({ name, tag }) => ({
      name,
      tags: tagsText([tag]),
      href: links.event(version, name),
    })),
    others: others.map(({ text, tags }) => ({ text, tags: tagsText(tags), html: renderInline(text) })),
    summary: summaryOf(release),
  }
}

/** Returns a one-sentence summary of a version. */
export function summaryOf({ previous, changes, operations, events }: Release): string {
  if (previous === undefined) return 'First version.'
  const counts = [
    counted(changes.length, 'change'),
    counted(operations.length, 'new operation'),
    counted(events.length, 'new event type', 'new event types'),
  ].filter((each) => each !== undefined)
  return counts.length === 0 ? 'Documentation changes only.' : `${counts.join(', ')}.`
}

const counted = (count: number, one: string, many = `${one}s`): string | undefined =>
  count === 0 ? undefined : `${count} ${count === 1 ? one : many}`

export function viewChangelog(
  { title, releases, tags }: Changelog,
  upgrades: readonly Upgrade[],
  links: DocsLinks,
) {
  return {
    title,
    feed: links.feed,
    releases: releases.map((each) => viewRelease(each, links, 2)).reverse(),
    upgrades: viewUpgradeLinks(upgrades, links),
    tags: viewTagLinks(releases, tags),
  }
}

/** Lists the changes of each tag, newest first. */
function viewTagLinks(releases: Changelog['releases'], tags: Changelog['tags']) {
  const changes = releases.flatMap((release) => release.changes).reverse()
  return tags.map(({ name, title }) => ({
    name,
    title,
    anchor: fragment(`tag-${name}`),
    changes: changes
      .filter((each) => each.tags.includes(name))
      .map((each) => ({ title: each.title, version: each.version, anchor: anchorOf(each) })),
  }))
}

function viewUpgradeLinks(upgrades: readonly Upgrade[], links: DocsLinks) {
  const starts = [...new Set(upgrades.map(({ from }) => from))].reverse()
  return starts.map((from) => ({
    from,
    to: upgrades
      .filter((each) => each.from === from)
      .map(({ to }) => ({ version: to, href: links.upgrade(from, to) }))
      .reverse(),
  }))
}

export const upgradeTitle = ({ from, to }: Upgrade): string => `Upgrade from ${from} to ${to}`

export function viewUpgrade(upgrade: Upgrade, versionHeader: string | undefined, links: DocsLinks) {
  const { from, to, parts } = upgrade
  let number = 0
  const steps = parts.reduce((sum, { changes }) => sum + changes.length, 0)
  return {
    from,
    to,
    versionHeader,
    clientsHref: links.clients,
    steps: counted(steps, 'step') ?? 'no steps',
    changelogHref: links.changelog,
    span: parts.length > 1,
    parts: parts.map(({ release, changes, unconcerned }) => ({
      ...viewRelease(release, links, 2),
      changes: changes.map((each) => ({ ...viewEntry(each, links, 3), number: ++number })),
      unconcerned: unconcerned.map((each) => ({
        title: each.title,
        href: `${links.changelog}#${anchorOf(each)}`,
      })),
    })),
    headline: upgradeTitle(upgrade),
  }
}
