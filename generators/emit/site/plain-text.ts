/** Converts our own pages to Markdown. Supports only elements that our templates use. */
import type { SafeHtml } from '../reference/html.ts'

const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>/g

const SAMPLE = /<details class="sample" data-language="([^"]*)"[^>]*>.*?<\/details>\n?/gs

/**
 * Returns Markdown in the order of the page.
 *
 * @param languages the languages whose samples are kept.
 */
export function toMarkdown(whole: SafeHtml, languages: readonly string[]): string {
  const page = whole.replace(SAMPLE, (sample, language) => (languages.includes(language) ? sample : ''))
  const writer = createWriter()
  let at = 0
  for (const tag of page.matchAll(TAG)) {
    const [text, slash, name = '', attributes = ''] = tag
    writer.text(decode(page.slice(at, tag.index)))
    if (slash === '/') writer.close(name)
    else writer.open(name, attributes)
    at = tag.index + text.length
  }
  writer.text(decode(page.slice(at)))
  return writer.end()
}

function createWriter() {
  const blocks: string[] = []
  const links: string[] = []
  let line = ''
  let depth = 0
  let start = ''
  let isCode = false
  const flush = () => {
    const text = isCode ? line.trimEnd() : line.replace(/\s+/g, ' ').trim()
    if (text !== '') blocks.push(isCode ? `\`\`\`\n${text}\n\`\`\`` : start + text)
    line = ''
    start = '  '.repeat(Math.max(0, depth - 1)) + (depth > 0 ? '  ' : '')
  }
  return {
    text: (text: string) => {
      line += text
    },
    open: (name: string, attributes: string) => {
      if (BLOCKS.has(name)) flush()
      if (name === 'pre') isCode = true
      if (name === 'ul' || name === 'ol') depth++
      if (/^h[1-6]$/.test(name)) start = `${'#'.repeat(Number(name[1]))} `
      else if (name === 'li') start = `${'  '.repeat(Math.max(0, depth - 1))}- `
      else if (BLOCKS.has(name)) start = depth > 0 ? '  '.repeat(depth) : ''
      if (name === 'code' && !isCode) line += '`'
      if (name === 'a') {
        links.push(/class="here"/.test(attributes) ? '' : (/href="([^"]*)"/.exec(attributes)?.[1] ?? ''))
        if (links.at(-1) !== '') line += '['
      }
    },
    close: (name: string) => {
      if (name === 'code' && !isCode) line += '`'
      if (name === 'a') {
        const href = links.pop() ?? ''
        line = href === '' ? line.replace(/\s*#$/, '') : `${line}](${href})`
      }
      if (BLOCKS.has(name)) flush()
      if (name === 'pre') isCode = false
      if (name === 'ul' || name === 'ol') depth--
    },
    end: () => {
      flush()
      // Items of one list follow each other without a blank line.
      return `${blocks.map((block, index) => (index === 0 ? block : `${/^\s*- /.test(block) && /^\s*- /.test(blocks[index - 1]!) ? '\n' : '\n\n'}${block}`)).join('')}\n`
    },
  }
}

const BLOCKS = new Set(
  'div p h1 h2 h3 h4 h5 h6 ul ol li pre section details summary dl dt dd table tr blockquote'.split(' '),
)

/** Replaces the entities that our own pages contain. */
export const decode = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
