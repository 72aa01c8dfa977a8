/** Prints `llms.txt` (llmstxt.org), which lists every page as plain text for language models. */
import type { DocsSite, SitePage } from './frame.ts'

export function printIndex({ title, home }: DocsSite, pages: readonly SitePage[]): string {
  const lineOf = (page: SitePage) =>
    `- [${page.title}](${home}/${page.path === '' ? 'index' : page.path}.md): ${page.description.replace(/\s+/g, ' ')}`
  const [first, ...others] = pages
  const sections = [...new Set(others.map(({ section }) => section))]
  return [
    `# ${title}`,
    '',
    `> ${first?.description ?? ''}`,
    ...sections.flatMap((section) => [
      '',
      `## ${section}`,
      '',
      ...others.filter((page) => page.section === section).map(lineOf),
    ]),
    '',
  ].join('\n')
}
