/** Shows JSON with colors, and with links from IDs to their pages. */
import { type Html, html } from '../../platform/html.ts'
import type { DashboardVisit } from './visit.ts'

/** A JSON object. */
export type Members = Readonly<Record<string, unknown>>

/**
 * Writes a value as indented JSON. The text on the page is exactly that JSON, so it can be copied.
 *
 * @param visit resolves IDs to pages. @param other members of objects that differ from this value are marked.
 */
export function writeJson(value: unknown, visit: JsonVisit, other?: unknown): Html {
  return html`<pre class="json" tabindex="0">${writeValue(value, { visit, indent: '' }, other)}</pre>`
}

/** Writes text that may be JSON. Other text, such as truncated JSON, is shown as it is. */
export function writeBody(text: string, visit: JsonVisit): Html {
  try {
    return writeJson(JSON.parse(text), visit)
  } catch {
    return html`<pre tabindex="0">${text}</pre>`
  }
}

export type JsonVisit = Pick<DashboardVisit, 'environment' | 'pageOf'>

interface Place {
  readonly visit: JsonVisit
  readonly indent: string
}

function writeValue(value: unknown, place: Place, other: unknown): Html {
  const text = JSON.stringify(value)
  if (typeof value === 'string') return writeString(value, text, place)
  if (typeof value !== 'object' || value === null) return html`<span class="literal">${text}</span>`
  const inner = { ...place, indent: `${place.indent}  ` }
  if (Array.isArray(value)) {
    const others = Array.isArray(other) ? other : []
    const items = value.map((each, at) => writeValue(each, inner, others[at]))
    return writeLines('[', items, ']', place.indent)
  }
  const others = isMembers(other) ? other : undefined
  const members = Object.entries(value).map(([name, member]) => {
    const written = html`<span class="key">${JSON.stringify(name)}</span>: ${writeValue(member, inner, others?.[name])}`
    return others && differs(member, others[name]) ? html`<mark>${written}</mark>` : written
  })
  return writeLines('{', members, '}', place.indent)
}

function writeString(value: string, text: string, { visit }: Place): Html {
  const page = visit.pageOf(value)
  const shown = html`<span class="string">${text}</span>`
  return page === undefined ? shown : html`<a href="/${visit.environment}/${page}">${shown}</a>`
}

function writeLines(open: string, lines: readonly Html[], close: string, indent: string): Html {
  if (lines.length === 0) return html`${open}${close}`
  return html`${open}${lines.map((line, at) => html`${at > 0 && ','}\n${indent}  ${line}`)}\n${indent}${close}`
}

/** Whether a member must be marked as a whole. Differences within two objects are marked there. */
function differs(one: unknown, other: unknown): boolean {
  return !(isMembers(one) && isMembers(other)) && JSON.stringify(one) !== JSON.stringify(other)
}

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
