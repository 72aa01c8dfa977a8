/** Renders whole pages from Markdown, with heading anchors and titled code samples. */
import MarkdownIt from 'markdown-it'
import { escapeCode, escapeHtml, fragment, type SafeHtml } from '../reference/html.ts'

const markdown = new MarkdownIt('commonmark', { html: false }).enable(['table'])

markdown.validateLink = (url) => /^(https?:\/\/|mailto:|#|\/(?!\/))/i.test(url)

const rules = markdown.renderer.rules

/** Returns the anchor of a heading, without the number of a step: links stay valid if steps move. */
export const anchorOf = (heading: string): string =>
  fragment(
    heading
      .replace(/[`*]/g, '')
      .replace(/^\d+\. /, '')
      .toLowerCase(),
  )

rules.heading_open = (tokens, at) => {
  const { tag } = tokens[at]!
  const id = anchorOf(tokens[at + 1]!.content)
  return tag === 'h1' ? '<h1>' : `<${tag} id="${escapeHtml(id)}">`
}
/** A fence such as `sh curl` has a title and becomes a foldable sample; the first of several in a row is unfolded. */
rules.fence = (tokens, at) => {
  const { info, content } = tokens[at]!
  const [language = '', ...title] = info.trim().split(/\s+/)
  const code = `<pre><code class="language-${escapeHtml(language || 'text')}">${escapeCode(content.trimEnd())}</code></pre>`
  if (title.length === 0) return `${code}\n`
  const before = tokens[at - 1]
  const follows = before?.type === 'fence' && before.info.trim().includes(' ')
  return `<details class="sample" data-language="${escapeHtml(title.join(' '))}"${follows ? '' : ' open'}>\n<summary>${escapeHtml(title.join(' '))}</summary>\n${code}\n</details>\n`
}

/** Wide tables scroll horizontally. */
rules.table_open = () => '<div class="table" tabindex="0">\n<table>\n'
rules.table_close = () => '</table>\n</div>\n'

export function renderPage(text: string): SafeHtml {
  return `<div class="prose">\n${markdown.render(text).trimEnd()}\n</div>` as SafeHtml
}
