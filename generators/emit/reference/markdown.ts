/** Descriptions: a small Markdown without HTML, images or anything that could make a request. */
import MarkdownIt from 'markdown-it'
import type { SafeHtml } from './html.ts'

const INLINE = ['backticks', 'emphasis', 'escape', 'link', 'newline']
const BLOCK = ['fence', 'heading', 'list', 'table']

const markdown = new MarkdownIt('zero', { html: false, linkify: false }).enable([...INLINE, ...BLOCK])

/** Nothing but the web, mail and this page. */
markdown.validateLink = (url) => /^(https?:\/\/|mailto:|#|\/(?!\/))/i.test(url)

/**
 * @param level of the heading that the text stands under: headings within it come one below, so that the
 *   page's outline stays whole whatever the document's author had in mind.
 */
export function renderMarkdown(text: string | undefined, level: number): SafeHtml {
  const tokens = markdown.parse(text ?? '', {})
  for (const token of tokens) if (token.type.startsWith('heading_')) token.tag = `h${Math.min(level + 1, 6)}`
  return markdown.renderer.render(tokens, markdown.options, {}).trimEnd() as SafeHtml
}

/** Without paragraphs, for a place inside a line. */
export function renderInline(text: string): SafeHtml {
  return markdown.renderInline(text) as SafeHtml
}
