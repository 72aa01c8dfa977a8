/** HTML templates that are safe by construction: interpolated values are escaped unless they are `Html`. */

/** Created only by `html` and `trusted`. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type HtmlPart = Html | string | undefined | false | readonly HtmlPart[]

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!)
}

function show(part: HtmlPart): string {
  if (part === undefined || part === false) return ''
  if (typeof part === 'string') return escapeHtml(part)
  return part instanceof Html ? part.text : part.map(show).join('')
}

/** Builds HTML. Interpolate values only into elements and quoted attributes. `undefined` and false produce nothing. */
export function html(texts: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(texts.reduce((before, text, index) => before + show(parts[index - 1]) + text))
}

/**
 * Marks text as HTML without escaping. Only for text without foreign content, such as styles of the service or drawings
 * of a library.
 */
export function trusted(text: string): Html {
  return new Html(text)
}
