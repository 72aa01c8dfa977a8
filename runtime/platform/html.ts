/** HTML that is safe by the way it is written: what is put into a template is text unless it is HTML itself. */

/** Made by `html` and `trusted` only. */
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

/** Text goes into elements and quoted attributes; nothing, `undefined` or false, leaves nothing. */
export function html(texts: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(texts.reduce((before, text, index) => before + show(parts[index - 1]) + text))
}

/** What holds no text of anybody: our own style, drawings of a library. */
export function trusted(text: string): Html {
  return new Html(text)
}
