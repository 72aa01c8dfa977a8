/** Which faults are in code that a plan runs: what V8 counts, and the statements that PostgreSQL gets. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Mutation } from './mutations.ts'

/** How often V8 entered the blocks of a function. The narrowest block around a place counts. */
interface CoveredFunction {
  readonly functionName: string
  readonly ranges: readonly {
    readonly startOffset: number
    readonly endOffset: number
    readonly count: number
  }[]
}

type Coverage = ReadonlyMap<string, readonly CoveredFunction[]>

function readCoverage(folder: string): Coverage {
  const covered = new Map<string, readonly CoveredFunction[]>()
  for (const file of readdirSync(folder).filter((name) => name.startsWith('coverage-'))) {
    const { result } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as {
      readonly result: readonly { readonly url: string; readonly functions: CoveredFunction[] }[]
    }
    for (const { url, functions } of result)
      if (url.startsWith('file:')) covered.set(fileURLToPath(url), functions)
  }
  return covered
}

/** Whether the place is inside a function, and whether it ran. */
function lookUp(functions: readonly CoveredFunction[], place: number) {
  let [size, count, isInside] = [Number.POSITIVE_INFINITY, 0, false]
  for (const [index, { ranges }] of functions.entries())
    for (const { startOffset, endOffset, count: times } of ranges) {
      const length = endOffset - startOffset
      if (place < startOffset || place >= endOffset || length > size) continue
      // The first function is the module itself.
      ;[size, count, isInside] = [length, times, index > 0]
    }
  return { isInside, runs: count > 0 }
}

/** Statements without what the simulation replaces in them. */
const comparable = (text: string) =>
  text
    .replaceAll("current_setting('simulation.now')::timestamptz", 'now()')
    .replaceAll('clock_timestamp()', 'now()')
    .replaceAll(/; SET LOCAL lock_timeout = '\d+m?s'/g, '')

/**
 * Reads what a run has left in a folder: coverage, and the file `statements`. Returns whether a fault is in code that ran.
 * A constant of a module counts if a function that ran names it.
 */
export function readReach(folder: string, root: string, files: readonly string[]): (of: Mutation) => boolean {
  const coverage = readCoverage(folder)
  const lines = readFileSync(join(folder, 'statements'), 'utf8').trim().split('\n')
  const statements = lines.map((line) => comparable(JSON.parse(line) as string)).join('\n')
  const texts = files.map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
  const known = new Map<string, boolean>()

  const isUsed = (name: string, declaredIn: string): boolean => {
    const key = `${declaredIn} ${name}`
    const before = known.get(key)
    if (before !== undefined) return before
    known.set(key, false) // of a constant that names itself
    const used = texts.some(({ file, text }) => {
      const functions = coverage.get(join(root, file))
      if (!functions || (file !== declaredIn && !isImported({ file, text }, name, declaredIn))) return false
      return [...text.matchAll(new RegExp(`(?<![.\\w'])${name}\\b`, 'g'))].some(({ index }) => {
        const { isInside, runs } = lookUp(functions, index)
        if (isInside) return runs
        const constant = declarationAround(text, index)
        return constant !== undefined && constant !== name && isUsed(constant, file)
      })
    })
    known.set(key, used)
    return used
  }

  return ({ file, start, sql }) => {
    if (sql !== undefined && !statements.includes(comparable(sql))) return false
    if (file.endsWith('.sql')) return true
    const functions = coverage.get(join(root, file))
    if (!functions) return false
    const { isInside, runs } = lookUp(functions, start)
    if (isInside || sql !== undefined) return runs
    const { text } = texts.find((each) => each.file === file)!
    const constant = declarationAround(text, start)
    return constant === undefined ? runs : isUsed(constant, file)
  }
}

/** Whether a file imports the name from the file that declares it. Other files can have the same name. */
function isImported(
  { file, text }: { readonly file: string; readonly text: string },
  name: string,
  declaredIn: string,
): boolean {
  const imports = text.matchAll(/\bimport\b([^'"]*)\bfrom '([^']+)'/g)
  return [...imports].some(
    ([, names, from]) =>
      new RegExp(`\\b${name}\\b`).test(names!) && join(dirname(file), from!) === declaredIn,
  )
}

/** Returns the name of the declaration at the top of the module that a place is in. */
function declarationAround(text: string, place: number): string | undefined {
  const heads = text.slice(0, place).matchAll(/^(?:export )?(?:const|class|(?:async )?function\*?) (\w+)/gm)
  return [...heads].at(-1)?.[1]
}
