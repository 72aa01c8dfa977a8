/** What a browser makes of a page: elements and their attributes, read as the HTML standard's tokenizer reads them (WHATWG HTML, 13.2.5). */

export interface Element {
  readonly name: string
  /** Values with their character references resolved. */
  readonly attributes: readonly (readonly [name: string, value: string])[]
}

export interface Markup {
  readonly elements: readonly Element[]
  /** All that is text, in and between elements, with its character references resolved. */
  readonly text: string
}

/** Until their end tag, whatever stands in them. */
const TEXT_ONLY = new Set(['script', 'style', 'textarea', 'title'])

const REFERENCES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

const resolve = (text: string) => text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (each) => REFERENCES[each]!)

export function readMarkup(html: string): Markup {
  const elements: Element[] = []
  const texts: string[] = []
  let at = 0
  const upTo = (end: number) => {
    texts.push(resolve(html.slice(at, end)))
    at = end
  }
  while (at < html.length) {
    const tag = /<(?:!--[\s\S]*?(?:-->|$)|![^>]*(?:>|$)|\/?[a-z])/gi
    tag.lastIndex = at
    const found = tag.exec(html)
    if (!found) upTo(html.length)
    if (!found) break
    upTo(found.index)
    at += found[0].length
    if (found[0].startsWith('<!')) continue
    const { element, end } = readTag(html, at - 1)
    at = end
    if (found[0].startsWith('</')) continue
    elements.push(element)
    if (!TEXT_ONLY.has(element.name)) continue
    const close = new RegExp(`</${element.name}[\\s/>]`, 'gi')
    close.lastIndex = at
    upTo(close.exec(html)?.index ?? html.length)
  }
  return { elements, text: texts.join('') }
}

/** The API call that a page shows below its form. */
export const callsOf = (html: string): string =>
  readMarkup(/<div class="calls">[\s\S]*?<\/div>/.exec(html)?.[0] ?? '').text

/** A tag from its name on. */
function readTag(html: string, start: number): { readonly element: Element; readonly end: number } {
  let at = start
  const take = (pattern: RegExp): string => {
    const sticky = new RegExp(pattern, 'y')
    sticky.lastIndex = at
    const [text] = sticky.exec(html)!
    at += text.length
    return text
  }
  const name = take(/[^\s/>]*/).toLowerCase()
  const attributes: [string, string][] = []
  for (;;) {
    take(/[\s/]*/)
    if (at >= html.length || html[at] === '>') return { element: { name, attributes }, end: at + 1 }
    const attribute = take(/=?[^\s/>=]*/).toLowerCase()
    const value = take(/(?:\s*=\s*(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^\s>]*))?/).replace(/^\s*=\s*/, '')
    attributes.push([attribute, resolve(/^["']/.test(value) ? value.slice(1, -1) : value)])
  }
}

const ADDRESSES = new Set(['href', 'src', 'srcset', 'action', 'formaction', 'data', 'xlink:href', 'poster'])

/** What a page may hold of its own besides text. */
const OURS = new Set(
  `html meta title link script noscript header nav a form input label button main h1 h2 h3 p ul ol li div span section table thead tbody
   tr th td dl dt dd code pre select option textarea br strong time svg use g rect text line path circle template img figure
   figcaption fieldset legend details summary article em small aside header footer progress output kbd mark`
    .trim()
    .split(/\s+/),
)

/** What stands on a page that no page of ours has: elements, handlers, attributes, and addresses that run something. */
export function findStrange({ elements }: Markup): string[] {
  return elements.flatMap(({ name, attributes }) => {
    const strange = attributes.filter(
      ([attribute, value]) =>
        !/^(?!on)[a-z][a-z0-9-]*$/i.test(attribute) ||
        attribute === 'srcdoc' ||
        // Browsers leave out white space and control characters before they read a scheme.
        (ADDRESSES.has(attribute) &&
          /^(?:javascript|vbscript|data:text)/i.test(value.replaceAll(/[\0-\x20]/g, ''))),
    )
    const isOurs =
      OURS.has(name) &&
      (name !== 'script' || attributes.some(([key, value]) => key === 'src' && value.startsWith('/assets/')))
    return [
      ...(isOurs ? [] : [`<${name}>`]),
      ...strange.map(([attribute, value]) => `<${name} ${attribute}="${value}">`),
    ]
  })
}

export interface ShownForm {
  readonly method: string
  /** Empty: the page's own. */
  readonly action: string
  readonly isMultipart: boolean
  /** Only scripts show it. */
  readonly isHidden: boolean
  /** Names and values of what nobody types. */
  readonly hidden: Readonly<Record<string, string>>
  /** Names of what is typed. */
  readonly typed: readonly string[]
  /** Names of what is chosen. */
  readonly chosen: readonly string[]
}

/** The forms of a page, in their order; none stands within another. */
export function readForms({ elements }: Markup): ShownForm[] {
  const starts = elements.flatMap(({ name }, index) => (name === 'form' ? [index] : []))
  return starts.map((start, nth) => {
    const own = elements.slice(start, starts[nth + 1]).map(({ name, attributes }) => {
      const { type = 'text', name: field = '', value = '', ...others } = Object.fromEntries(attributes)
      return { element: name, type, field, value, others }
    })
    const { method = 'get', action = '', enctype } = own[0]!.others as Record<string, string>
    const fields = own.filter(({ field }) => field !== '')
    const isTyped = ({ element, type }: (typeof fields)[number]) =>
      element === 'textarea' || (element === 'input' && /^(?:text|search|email|password|color)$/.test(type))
    const hidden = fields.filter(({ element, type }) => element === 'input' && type === 'hidden')
    const chosen = fields.filter(
      ({ element, type }) => element === 'select' || type === 'checkbox' || type === 'radio',
    )
    return {
      method,
      action,
      isMultipart: enctype === 'multipart/form-data',
      isHidden: 'hidden' in own[0]!.others,
      hidden: Object.fromEntries(hidden.map(({ field, value }) => [field, value])),
      typed: fields.filter(isTyped).map(({ field }) => field),
      chosen: chosen.map(({ field }) => field),
    }
  })
}
