/** Text of a document on its way into HTML. Views hold `Html` only where this file or Markdown made it. */

/** Markup that is safe to print as it stands. */
export type SafeHtml = string & { readonly html: unique symbol }

/** For the content of an element and for a quoted attribute. */
export function escapeHtml(text: string): SafeHtml {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;') as SafeHtml
}

/** For the content of a `pre`, where quotes abound and mean nothing. */
export function escapeCode(text: string): SafeHtml {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') as SafeHtml
}

/** A template literal whose inserted strings are escaped, unless they are `Html` already (wrapped in `[…]`). */
export function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | readonly [SafeHtml])[]
): SafeHtml {
  const filled = parts.map((part, index) => {
    const value = values[index]
    if (value === undefined) return part
    return part + (typeof value === 'string' ? escapeHtml(value) : value[0])
  })
  return filled.join('') as SafeHtml
}

/** @returns the parts beside each other; what stands between them is text. */
export function joinHtml(parts: readonly SafeHtml[], between: string): SafeHtml {
  return parts.join(escapeHtml(between)) as SafeHtml
}

export function code(text: string): SafeHtml {
  return html`<code>${text}</code>`
}

/** A value as JSON, as it would be written in a request. */
export function jsonCode(value: unknown): SafeHtml {
  return code(JSON.stringify(value) ?? 'undefined')
}

/** A value as it is meant: strings without their quotes. */
export function scalarCode(value: unknown): SafeHtml {
  return typeof value === 'string' ? code(value) : jsonCode(value)
}

/** An identifier within the page that is a legal fragment: `created[gte]` → `created-gte`. */
export function fragment(text: string): string {
  return text.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^-+|-+$/g, '')
}
