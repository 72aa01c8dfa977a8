/** Prints the changelog as an Atom feed (RFC 4287), with an entry for each change and each version. */
import { createHash } from 'node:crypto'
import { escapeHtml, html, joinHtml, type SafeHtml } from '../reference/html.ts'
import { renderMarkdown } from '../reference/markdown.ts'
import type { Changelog, ChangelogEntry, Release } from './changelog.ts'
import { anchorOf, type DocsLinks, summaryOf, viewEntry } from './views.ts'

/**
 * Prints the feed. Addresses are relative; the server sets `xml:base` in the root element.
 *
 * @returns undefined if a version is not a date, because entries are dated by their version.
 */
export function printFeed({ title, releases }: Changelog, links: DocsLinks): string | undefined {
  if (!releases.every(({ version }) => isDate(version))) return undefined
  const newest = releases.at(-1)
  if (!newest) return undefined
  const entries = releases.flatMap((release) => [
    ...release.changes.map((change) => printChange(title, change, links)),
    printRelease(title, release, links),
  ])
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">',
    `<title>${text(`${title}: changelog`)}</title>`,
    `<id>${idOf(title)}</id>`,
    `<updated>${timeOf(newest.version)}</updated>`,
    `<author><name>${text(title)}</name></author>`,
    `<link rel="self" type="application/atom+xml" href="${text(links.feed)}"/>`,
    `<link rel="alternate" type="text/html" href="${text(links.changelog)}"/>`,
    ...entries.reverse(),
    '</feed>',
    '',
  ].join('\n')
}

function printChange(title: string, change: ChangelogEntry, links: DocsLinks): string {
  const view = viewEntry(change, links, 1)
  const named = [...change.operations, ...(change.everyEvent ? [] : change.events)]
  const content = joinHtml(
    [
      renderMarkdown(change.why, 1),
      html`<p>What changes: ${view.effects}${view.everyEvent ? '. It affects all deliveries' : ''}.</p>`,
      ...(named.length > 0 ? [html`<p>It affects ${named.join(', ')}.</p>`] : []),
      ...view.examples.flatMap(({ schema, before, after }) => [
        html`<p>${schema} before:</p><pre>${before}</pre>`,
        html`<p>${schema} after:</p><pre>${after}</pre>`,
      ]),
    ],
    '\n',
  )
  return printEntry({
    id: idOf(`${title} ${change.version} ${change.id}`),
    title: `${change.version}: ${change.title}`,
    version: change.version,
    href: `${links.changelog}#${anchorOf(change)}`,
    content,
  })
}

function printRelease(title: string, release: Release, links: DocsLinks): string {
  const { version, previous, operations, events } = release
  const content = joinHtml(
    [
      html`<p>${summaryOf(release)}</p>`,
      ...operations.map((each) => html`<p>${each.summary}: ${each.call}</p>`),
      ...(events.length > 0 ? [html`<p>Events: ${events.map(({ name }) => name).join(', ')}</p>`] : []),
      ...(previous === undefined
        ? []
        : [html`<p><a href="${links.upgrade(previous, version)}">Migrate from ${previous}</a></p>`]),
    ],
    '\n',
  )
  return printEntry({
    id: idOf(`${title} ${version}`),
    title: `Version ${version}`,
    version,
    href: `${links.changelog}#${version}`,
    content,
  })
}

interface FeedEntry {
  readonly id: string
  readonly title: string
  readonly version: string
  readonly href: string
  readonly content: SafeHtml
}

function printEntry({ id, title, version, href, content }: FeedEntry): string {
  return [
    '<entry>',
    `<title>${text(title)}</title>`,
    `<id>${id}</id>`,
    `<updated>${timeOf(version)}</updated>`,
    `<link rel="alternate" type="text/html" href="${text(href)}"/>`,
    `<content type="html">${text(content)}</content>`,
    '</entry>',
  ].join('\n')
}

const isDate = (version: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(version) && !Number.isNaN(Date.parse(timeOf(version)))

const timeOf = (version: string): string => `${version}T00:00:00Z`

/** XML forbids most control characters, even escaped (XML 1.0, section 2.2). */
const text = (value: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that XML forbids
  escapeHtml(value.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '').toWellFormed())

/**
 * Returns a stable identifier that does not depend on the feed's address: a UUID from a digest (version 8 of RFC
 * 9562).
 */
function idOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16)
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
