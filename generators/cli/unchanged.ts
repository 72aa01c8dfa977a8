/**
 * Whether a run would find what an earlier one found: the same inputs, toolkit and output. The record of a run is kept
 * under the hash of all that went into it, and says what it found and what was in the output folder when it ended; all
 * of that is read again each time. A run that failed is known as well, to the command that failed.
 */
import { join } from 'node:path'
import { hashFile, hashOf, isCacheOff, openCache } from '../cache/cache.ts'
import { type Diagnostic, locateAll } from '../diagnostics/diagnostic.ts'
import { pathsBelow } from '../output/write.ts'
import { hashInputs } from './inputs.ts'
import type { CommandRun } from './run.ts'
import type { SourceLines } from './source-lines.ts'

/** How a run ended. */
export interface KnownRun {
  /** How many files the emitters made; undefined when the run failed. */
  readonly files?: number
  readonly diagnostics: readonly Diagnostic[]
  /** As in `Run`. */
  readonly wroteTypes?: boolean
}

interface RecordedRun extends KnownRun {
  /** Hash of all that the output folder held. */
  readonly output: string
  /** What findings are about, by file and number of the line. */
  readonly lines: Readonly<Record<string, Readonly<Record<number, string>>>>
}

export interface Memory {
  /** @returns how the last such run ended, if the output is as it left it. */
  recall(): KnownRun | undefined
  /** Keeps how the run ended, unless somebody wrote an input meanwhile. */
  remember(known: KnownRun): void
}

/** @param command that fails for reasons of its own; what succeeds is the same for all. */
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

/** An entry that is none of ours is as if it were not there. */
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
