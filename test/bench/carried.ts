/** How many breaks of real families a lens carries: those that the gate drafts another lens for than `accept`. */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { diffApis } from '../../generators/diff/diff.ts'
import { loadDocument } from '../../generators/document/load.ts'
import { nameableIn } from '../../generators/gate/nameable.ts'
import { buildApi } from '../../generators/ir/build.ts'
import type { Api } from '../../generators/ir/model.ts'
import { proposeChanges } from '../../generators/propose/proposed-change.ts'

interface Row {
  all: number
  carried: number
  /** How often each lens is drafted. */
  readonly lenses: Map<string, number>
}

export interface Carried {
  /** By code. */
  readonly rows: ReadonlyMap<string, Row>
  readonly all: number
  readonly carried: number
  /** Renamed placeholders: they would break handlers, and are carried without a lens. */
  readonly unasked: number
}

/** @param folder holds the documents of one family, named after their versions. @returns one line for each pair, and the counts. */
export function countCarried(folder: string, print: (line: string) => void): Carried {
  const names = readdirSync(folder).filter((name) => /\.(json|ya?ml)$/.test(name))
  const apis = names
    .toSorted(new Intl.Collator('en', { numeric: true }).compare)
    .flatMap((name) => readApi(join(folder, name)) ?? [])
  const rows = new Map<string, Row>()
  let unasked = 0
  for (const [index, next] of apis.slice(1).entries()) {
    const old = apis[index]!
    const found = diffApis(old, next)
    unasked += found.filter(({ code }) => code === 'path-parameter-renamed').length
    const breaking = found.filter((each) => each.class === 'breaking')
    for (const { lens, differences } of proposeChanges(breaking, nameableIn(old, next)))
      for (const { code } of differences) count(rows, code, kindOf(lens))
    print(`${folder}: ${basename(old.file)} → ${basename(next.file)}: ${breaking.length} breaks`)
  }
  const sum = (of: (row: Row) => number) => [...rows.values()].reduce((total, row) => total + of(row), 0)
  return { rows, all: sum(({ all }) => all), carried: sum(({ carried }) => carried), unasked }
}

function readApi(file: string): Api | undefined {
  const report = createReport()
  const document = loadDocument(file, report, { strict: false })
  return document && buildApi(document, report, false)
}

/** Of a draft with several lenses, the first: `v.moved(…), v.moved(…)`. */
const kindOf = (lens: string): string =>
  /v\.(\w+)\(|kind: '([\w-]+)'/.exec(lens)?.slice(1).find(Boolean) ?? lens

function count(rows: Map<string, Row>, code: string, lens: string): void {
  const row = rows.get(code) ?? { all: 0, carried: 0, lenses: new Map<string, number>() }
  rows.set(code, row)
  row.all += 1
  if (lens !== 'accept') row.carried += 1
  row.lenses.set(lens, (row.lenses.get(lens) ?? 0) + 1)
}

/** @param folders one for each family. */
export function printCarried(folders: readonly string[], print: (line: string) => void): void {
  const total = { all: 0, carried: 0, unasked: 0 }
  const rows = new Map<string, Row>()
  for (const folder of folders) {
    const found = countCarried(folder, print)
    for (const [code, { lenses }] of found.rows)
      for (const [lens, times] of lenses) for (let at = 0; at < times; at++) count(rows, code, lens)
    for (const key of ['all', 'carried', 'unasked'] as const) total[key] += found[key]
  }
  for (const [code, { all, carried, lenses }] of [...rows].toSorted(([, a], [, b]) => b.all - a.all)) {
    const told = [...lenses].map(([lens, times]) => `${lens} ${times}`).join(', ')
    print(`${code.padEnd(28)}${String(all).padStart(5)}${String(carried).padStart(5)}  ${told}`)
  }
  const share = (carried: number, all: number) =>
    `${carried} of ${all} (${((100 * carried) / all).toFixed(1)} %)`
  print(`carried by a lens: ${share(total.carried, total.all)}`)
  const { all, carried, unasked } = total
  print(`with ${unasked} renamed placeholders, which need none: ${share(carried + unasked, all + unasked)}`)
}
