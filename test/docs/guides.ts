/** Migration guides as their readers have them: the Markdown, cut into steps and code. */
import { readFileSync } from 'node:fs'
import { versions } from '../../generated/versions.ts'

export interface Pair {
  readonly before: string
  readonly after: string
}

/** One use of the API in a step, with its code. */
export interface Use {
  /** `2026-05-19 Block categories: Create a program` */
  readonly name: string
  readonly from: string
  readonly to: string
  /** What the step says that changes. */
  readonly changes: string
  /** Whether there is nothing to replace. */
  readonly added: boolean
  readonly curl?: Pair
  readonly typescript?: Pair
  readonly answer?: Pair
}

export const VERSIONS = versions.map(({ name }) => name)

export const guideOf = (from: string, to: string): string =>
  readFileSync(new URL(`../../generated/site/upgrading/${from}/${to}.md`, import.meta.url), 'utf8')

/** @returns what a guide shows, in its order. */
export function usesIn(guide: string): Use[] {
  return guide
    .split(/^## From /m)
    .slice(1)
    .flatMap((part) => {
      const [, from = '', to = ''] = /^(\S+) to (\S+)/.exec(part) ?? []
      return part
        .split(/^### \d+\. /m)
        .slice(1)
        .flatMap((step) => usesOf(step, from, to))
    })
}

function usesOf(step: string, from: string, to: string): Use[] {
  const [title = ''] = step.split('\n')
  const changes = /^- What changes: (.+)$/m.exec(step)?.[1] ?? ''
  return step
    .split(/^(?=\*\*)/m)
    .slice(1)
    .map((use) => {
      const [, name = '', note = ''] = /^\*\*(.+)\*\*(.*)$/m.exec(use) ?? []
      const code = (label: string): Pair | undefined => {
        const side = (which: string) =>
          new RegExp(`^${label} ${which}:\n\n\`\`\`\\w+\n([\\s\\S]*?)\n\`\`\`$`, 'm').exec(use)?.[1]
        const [before, after] = [side('before'), side('after')]
        return before === undefined || after === undefined ? undefined : { before, after }
      }
      const [curl, typescript, answer] = [code('curl'), code('TypeScript'), code('Response')]
      return {
        name: `${to} ${title}: ${name}`,
        from,
        to,
        changes,
        added: note.includes('new'),
        ...(curl && { curl }),
        ...(typescript && { typescript }),
        ...(answer && { answer }),
      }
    })
}
