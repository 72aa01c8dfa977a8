/**
 * Detects whether a run would have the same result as an earlier one. The record of a run is cached under the hash
 * of its inputs and the toolkit. It holds the findings and the hash of the output folder, which is compared again
 * each time. A successful run is valid for all commands, a failed run only for the same command.
 */
import { join } from 'node:path'
import { hashFile, hashOf, isCacheOff, openCache } from '../cache/cache.ts'
import { type Diagnostic, locateAll } from '../diagnostics/diagnostic.ts'
import { pathsBelow } from '../output/write.ts'
import { hashInputs } from './inputs.ts'
import type { CommandRun } from './run.ts'
import type { SourceLines } from './source-lines.ts'

/** The result of a run. */
export interface KnownRun {
  /** Number of generated files; undefined if the run failed. */
  readonly files?: number
  readonly diagnostics: readonly Diagnostic[]
  /** As in `CommandRun`. */
  readonly wroteTypes?: boolean
}

interface RecordedRun extends KnownRun {
  /** Hash of the output folder's contents. */
  readonly output: string
  /** Source lines of the findings, by file and line number. */
  readonly lines: Readonly<Record<string, Readonly<Record<number, string>>>>
}

export interface Memory {
  /** Returns the result of the last run with these inputs, if the output folder is unchanged since. */
  recall(): KnownRun | undefined
  /** Records the result of a run, unless an input changed during the run. */
  remember(known: KnownRun): void
}

/**
 * Opens the record of runs.
 *
 * @param command recorded for failed runs, because a failure depends on the command.
 */
export function openMemory({ config, file, sources }: CommandRun, command: string): Memory {
  const inputs = isCacheOff() ? undefined : hashInputs(config, file)
  if (inputs === undefined) return { recall: () => undefined, remember: () => undefined }
  const cache = openCache()
  const [succeeded, failed] = [`run-${inputs}`, `${command}-failed-${inputs}`]
  return {
    recall() {
      const records = [succeeded, failed].flatMap((name) => parse(cache.read(name)) ?? [])
      const output = records.length > 0 ? hashOutput(config.out) : undefined
      const recorded = records.find((each) => each.output === output)
      for (const [name, lines] of Object.entries(recorded?.lines ?? {})) sources.know(name, lines)
      return recorded
    },
    remember(known) {
      const { diagnostics } = known
      locateAll(diagnostics)
      const recorded: RecordedRun = {
        ...known,
        output: hashOutput(config.out),
        lines: linesOf(diagnostics, sources),
      }
      if (hashInputs(config, file) !== inputs) return
      cache.write(known.files === undefined ? failed : succeeded, JSON.stringify(recorded))
    },
  }
}

/** Returns undefined for an entry that is not a valid record. */
function parse(text: string | undefined): RecordedRun | undefined {
  if (text === undefined) return undefined
  try {
    const recorded = JSON.parse(text) as Partial<RecordedRun> | null
    return recorded?.lines && Array.isArray(recorded.diagnostics) ? (recorded as RecordedRun) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function hashOutput(out: string): string {
  return hashOf(...pathsBelow(out).flatMap((path) => [path, hashFile(join(out, path)) ?? 'no file']))
}

function linesOf(diagnostics: readonly Diagnostic[], sources: SourceLines): RecordedRun['lines'] {
  const lines: Record<string, Record<number, string>> = {}
  for (const place of diagnostics.flatMap(({ place, other }) => [place ?? [], other ?? []].flat())) {
    const line = sources.linesOf(place.file)?.[place.line - 1]
    if (line === undefined) continue
    lines[place.file] ??= {}
    lines[place.file]![place.line] = line
  }
  return lines
}
