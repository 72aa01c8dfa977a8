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

/** An edit of a file: lines that stand there, and lines that come behind the last of them. */
export interface ShownEdit {
  readonly file: string
  readonly around: readonly string[]
  readonly added: readonly string[]
}

/** What the page's `diff` blocks show, the first line of each naming the file. */
export function shownEdits(page: string): readonly ShownEdit[] {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```diff\n([\s\S]*?)^```$/gm)]
  return blocks.map(([, text = '']) => {
    const [head = '', ...lines] = text.trimEnd().split('\n')
    const [file = ''] = /[\w./-]+/.exec(head.replace('#', '')) ?? []
    const first = lines.findIndex((line) => line.startsWith('+'))
    const starting = (mark: string, from: readonly string[]) =>
      from.filter((line) => line.startsWith(mark)).map((line) => line.slice(1))
    return { file, around: starting(' ', lines.slice(0, first)), added: starting('+', lines) }
  })
}

/** @throws Error where the file lacks a line that the edit shows. */
export function applyEdit({ file, around, added }: ShownEdit, text: string): string {
  const lines = text.split('\n')
  let at = -1
  for (const line of around) {
    at = lines.indexOf(line, at + 1)
    if (at < 0) throw new Error(`${file} has no line "${line}"`)
  }
  return lines.toSpliced(at + 1, 0, ...added).join('\n')
}

/** A fenced block: `ts handlers.ts` is TypeScript with a title. */
export interface FencedBlock {
  readonly language: string
  readonly title: string
  readonly text: string
}

/** Fenced blocks of a text in Markdown that have a language, in order. Blocks of a list lose its indentation. */
export function fencedBlocks(markdown: string): readonly FencedBlock[] {
  return [...markdown.matchAll(/^( *)```(\w+)(?: (.+))?\n([\s\S]*?)^\1```$/gm)].map(
    ([, indentation = '', language = '', title = '', text = '']) => ({
      language,
      title,
      text: text.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
    }),
  )
}

/**
 * Applies a block with removed and added lines.
 *
 * @throws Error where the file lacks the lines, or has them twice
 */
export function applyDiff(file: string, text: string, diff: string): string {
  const side = (mark: string) =>
    diff
      .split('\n')
      .filter((line) => line.startsWith(' ') || line.startsWith(mark))
      .map((line) => `${line.slice(1)}\n`)
      .join('')
  const found = text.split(side('-')).length - 1
  if (found !== 1) throw new Error(`${file} has the lines of the edit ${found} times`)
  return text.replace(side('-'), () => side('+'))
}
