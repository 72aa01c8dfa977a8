/** Prints the page of real changes: a table, and for each change the lenses and a value of both versions. */
import { anchorOf } from '../../../../generators/emit/site/page-markdown.ts'
import { REAL_CHANGES } from './all.ts'
import { type CarriedChange, directionsOf, isCarried, type RealChange } from './real-change.ts'

const HEAD = `# Real changes

Breaking changes that vendors announced or published in dated documents, and the lenses that carry them. Each change is reduced to the part
that differs. A test runs every one as a family of two versions: the gate accepts the lenses, the generated translations carry the values
in both directions, and the proof finds no counterexample. If a translation loses information or uses a placeholder, the last column
describes it.

`

/** Returns the page in Markdown. */
export function printRealChanges(): string {
  const carried = REAL_CHANGES.filter(isCarried)
  const rows = REAL_CHANGES.map(
    (change, index) =>
      `| ${index + 1} | ${change.vendor} | ${change.date} | ${change.what} | ${lensesOf(change, index)} |`,
  )
  const sections = REAL_CHANGES.map((change, index) => (isCarried(change) ? sectionOf(change, index) : ''))
  return [
    HEAD,
    `${carried.length} of ${REAL_CHANGES.length} are carried.\n\n`,
    `| Number | Vendor | Version | What changed | Lenses, or the reason why none carries it |\n|---|---|---|---|---|\n${rows.join('\n')}\n`,
    ...sections,
  ].join('')
}

const titleOf = ({ vendor }: RealChange, index: number): string => `Change ${index + 1}: ${vendor}`

function lensesOf(change: RealChange, index: number): string {
  if (!isCarried(change)) return change.reason
  const names = new Set(
    [...change.lens.matchAll(/\bv\.(\w+)/g)]
      .map(([, name]) => name)
      .filter((name) => !/^(answer|body|payload|inside)$/.test(name ?? '')),
  )
  const link = `[${[...names].map((name) => `\`${name}\``).join(', ')}](#${anchorOf(titleOf(change, index))})`
  return change.note ? `${link}. ${change.note}` : link
}

function sectionOf(change: CarriedChange, index: number): string {
  const values = change.values.map(
    (value) =>
      `| ${directionsOf(change, value)
        .map((each) => ARROWS[each])
        .join(' ')} | ${cell(value.old)} | ${cell(value.new)} |`,
  )
  return [
    `\n## ${titleOf(change, index)}\n\n${change.date}: ${change.what}\n\n\`\`\`ts\n${change.lens.trim()}\n\`\`\`\n\n`,
    `| Direction | Old | New |\n|---|---|---|\n${values.join('\n')}\n`,
  ].join('')
}

const ARROWS = { up: '→', down: '←' } as const

const cell = (value: unknown): string => `\`${JSON.stringify(value).replaceAll('|', '\\|')}\``
