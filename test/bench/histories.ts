/**
 * `npm run bench:histories -- FOLDER…`: compares each document of a folder with the next one and with itself, as
 * `dateline diff` does. Prints crashes, documents that cannot be read, and the time. Documents are ordered by name.
 */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { main } from '../../generators/cli.ts'

const print = (line: string) => void process.stdout.write(`${line}\n`)

interface ReportedDiff {
  readonly exit: number
  readonly differences?: readonly { readonly class: string; readonly code: string }[]
  readonly notCompared?: readonly string[]
  readonly findings: readonly { readonly severity: string; readonly code: string; readonly message: string }[]
}

/** @throws what a crash throws. */
async function diff(old: string, next: string): Promise<ReportedDiff> {
  const lines: string[] = []
  await main(['diff', old, next, '--json'], { out: (line) => void lines.push(line), error: print })
  return JSON.parse(lines.join('\n')) as ReportedDiff
}

const median = (all: readonly number[]): number =>
  all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0

async function compareHistory(folder: string): Promise<void> {
  const files = readdirSync(folder)
    .filter((name) => /\.(json|ya?ml)$/.test(name))
    .toSorted(new Intl.Collator('en', { numeric: true }).compare)
    .map((name) => join(folder, name))
  const seconds: number[] = []
  const codes = new Map<string, number>()
  const counts = { pairs: 0, crashes: 0, unread: 0, partly: 0, breaking: 0, withItself: 0 }
  for (const [index, next] of files.entries()) {
    for (const old of [files[index - 1], next]) {
      if (old === undefined) continue
      try {
        const start = performance.now()
        const { exit, differences = [], notCompared = [], findings } = await diff(old, next)
        const megabytes = Math.max(statSync(old).size, statSync(next).size) / 1e6
        if (exit === 3) {
          const { code, message } = findings.find(({ severity }) => severity === 'error')!
          print(`${old} → ${next} cannot be read: ${code}: ${message}`)
          counts.unread += 1
        } else if (old === next) {
          counts.withItself += differences.length
          for (const { code } of differences) print(`${next} differs from itself: ${code}`)
        } else {
          seconds.push((performance.now() - start) / 1000 / megabytes)
          const breaking = differences.filter((each) => each.class === 'breaking')
          for (const { code } of breaking) codes.set(code, (codes.get(code) ?? 0) + 1)
          counts.pairs += 1
          counts.breaking += breaking.length
          if (notCompared.length > 0) counts.partly += 1
        }
      } catch (error) {
        counts.crashes += 1
        print(`${old} → ${next}: ${error instanceof Error ? error.stack : String(error)}`)
      }
    }
  }
  const { pairs, crashes, unread, partly, breaking, withItself } = counts
  print(
    `${folder}: ${pairs} pairs, ${crashes} crashes (0), ${unread} unread, ${partly} compared in part, ${breaking} breaks, ${withItself} differences of documents from themselves (0), median ${median(seconds).toFixed(2)} s for 1 MB (at most 2)`,
  )
  const told = [...codes].toSorted(([, a], [, b]) => b - a).map(([code, times]) => `${code} ${times}`)
  if (told.length > 0) print(`  ${told.join(', ')}`)
}

for (const folder of process.argv.slice(2)) await compareHistory(folder)
