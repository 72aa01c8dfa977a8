/** What the README prints: what a reader copies, and what a sentence or a table names. */
import { readFileSync } from 'node:fs'

/** Commands of fenced `sh` blocks, in the page's order: lines that go on are one, comments stay. */
export function printedCommands(page: string): readonly string[] {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
  return blocks.flatMap(([, text = '']) =>
    text
      .replaceAll('\\\n', '\\\u0000')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => line.replaceAll('\u0000', '\n')),
  )
}

/** Commands that stand in a sentence or a table. */
export function namedCommands(page: string): readonly string[] {
  const prose = readFileSync(page, 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text.replaceAll('\n', ' '))
  return [...new Set(spans.filter((text) => /^(npm|npx|node|curl|bash|git) /.test(text)))]
}
