/** Text of a document on its way into HTML. Views hold `Html` only where this file or Markdown made it. */

/** Markup that is safe to print as it stands. */
export type Html = string & { readonly html: unique symbol }

/** For the content of an element and for a quoted attribute. */
export function escapeHtml(text: string): Html {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;') as Html
}

/** For the content of a `pre`, where quotes abound and mean nothing. */
export function escapeCode(text: string): Html {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') as Html
}

/** A template literal whose inserted strings are escaped, unless they are `Html` already (wrapped in `[…]`). */
export function html(parts: TemplateStringsArray, ...values: readonly (string | readonly [Html])[]): Html {
  const filled = parts.map((part, index) => {
    const value = values[index]
    if (value === undefined) return part
    return part + (typeof value === 'string' ? escapeHtml(value) : value[0])
  })
  return filled.join('') as Html
}

/** @returns the parts beside each other; what stands between them is text. */
export function joinHtml(parts: readonly Html[], between: string): Html {
  return parts.join(escapeHtml(between)) as Html
}

export function code(text: string): Html {
  return html`<code>${text}</code>`
}

/** A value as JSON, as it would be written in a request. */
export function jsonCode(value: unknown): Html {
  return code(JSON.stringify(value) ?? 'undefined')
}

/** A value as it is meant: strings without their quotes. */
export function scalarCode(value: unknown): Html {
  return typeof value === 'string' ? code(value) : jsonCode(value)
}

/** An identifier within the page that is a legal fragment: `created[gte]` → `created-gte`. */
export function fragment(text: string): string {
  return text.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^-+|-+$/g, '')
}
