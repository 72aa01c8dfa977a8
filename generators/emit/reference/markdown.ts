/** Renders descriptions from a subset of Markdown without HTML, images, or anything else that causes requests. */
import MarkdownIt from 'markdown-it'
import type { SafeHtml } from './html.ts'

const INLINE = ['backticks', 'emphasis', 'escape', 'link', 'newline']
const BLOCK = ['fence', 'heading', 'list', 'table']

const markdown = new MarkdownIt('zero', { html: false, linkify: false }).enable([...INLINE, ...BLOCK])

/** Allows only links to the web, to mail addresses and within the documentation. */
markdown.validateLink = (url) => /^(https?:\/\/|mailto:|#|\/(?!\/))/i.test(url)

/**
 * Renders Markdown.
 *
 * @param level level of the enclosing heading; headings in the text are one level below it, so that the page's
 * outline stays valid.
 */
export function renderMarkdown(text: string | undefined, level: number): SafeHtml {
  const tokens = markdown.parse(text ?? '', {})
  for (const token of tokens) if (token.type.startsWith('heading_')) token.tag = `h${Math.min(level + 1, 6)}`
  return markdown.renderer.render(tokens, markdown.options, {}).trimEnd() as SafeHtml
}

/** Renders Markdown without paragraphs, for use within a line. */
export function renderInline(text: string): SafeHtml {
  return markdown.renderInline(text) as SafeHtml
}
