/** `explain CODE`: what a finding or difference means, from `findings.md`. */

import { readAsset } from '../assets/assets.ts'
import { findNearest } from '../runtime/nearest.ts'
import { type CommandOutcome, UsageError } from './run.ts'

interface Row {
  readonly section: string
  readonly codes: readonly string[]
  readonly cells: readonly (readonly [heading: string, text: string])[]
}

/** The tables of the page: a row may describe several codes. */
function readRows(): Row[] {
  return readAsset('findings.md')
    .split(/^## /m)
    .slice(1)
    .flatMap((part) => {
      const [section = '', ...lines] = part.split('\n')
      const [headings, , ...rows] = lines.filter((line) => line.startsWith('|')).map(cellsOf)
      return rows.map((cells) => ({
        section,
        codes: [...cells[0]!.replace(/\(.*\)/, '').matchAll(/`([^`]+)`/g)].map(([, code]) => code!),
        cells: cells.slice(1).map((text, at) => [headings![at + 1]!, text] as const),
      }))
    })
}

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

/** @throws UsageError if there is no such code */
export function explainCode(code: string): CommandOutcome {
  const rows = readRows()
  const row = rows.find(({ codes }) => codes.includes(code))
  if (!row) {
    const nearest = findNearest(
      code,
      rows.flatMap(({ codes }) => codes),
    )
    const hint =
      nearest === undefined
        ? 'if `check` prints it, it is a rule of Redocly, see https://redocly.com/docs/cli/rules'
        : `did you mean ${nearest}?`
    throw new UsageError(`${code} is not the code of a finding or difference: ${hint}`)
  }
  const cells = row.cells.filter(([, text]) => text !== '')
  return {
    lines: [code, ...cells.map(([heading, text]) => `${heading}: ${text}`)],
    data: { code, section: row.section, ...Object.fromEntries(cells) },
  }
}
