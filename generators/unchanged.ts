/**
 * Whether a run would find what the last one found: the same inputs, toolkit and output. The record of a run is kept
 * under the hash of all that went into it, and says which files came out; both are read again each time.
 */
import { join } from 'node:path'
import { filesBelow, hashOf, openCache, readIfThere, toolkitHash } from './cache.ts'
import type { Config } from './config.ts'
import type { Diagnostic } from './diagnostics.ts'
import type { OutputFile } from './ir/model.ts'
import { pathsBelow, readText } from './write.ts'

/** A run that found no error. */
export interface KnownRun {
  readonly files: number
  readonly warnings: readonly Diagnostic[]
}

interface Recorded {
  /** Path and hash of every file in the output folder. */
  readonly output: readonly (readonly [string, string])[]
  readonly warnings: readonly Diagnostic[]
}

/** @param file of the configuration. @returns what the last run on the same inputs found, if its output is still there. */
export function recallRun(config: Config, file: string): KnownRun | undefined {
  const text = openCache().read(`run-${inputHash(config, file)}`)
  if (text === undefined) return undefined
  const { output, warnings } = JSON.parse(text) as Recorded
  const wanted = new Map(output)
  const found = pathsBelow(config.out)
  const same =
    found.length === wanted.size && found.every((path) => wanted.get(path) === hashFile(config.out, path))
  return same ? { files: wanted.size - 1, warnings } : undefined
}

/** Records a run after its output was written, or found to be as it should be. */
export function rememberRun(
  config: Config,
  file: string,
  files: readonly OutputFile[],
  warnings: readonly Diagnostic[],
): void {
  const output = pathsBelow(config.out).map((path) => [path, hashFile(config.out, path)] as const)
  // The manifest is no file of an emitter.
  if (output.length !== files.length + 1) return
  const recorded: Recorded = { output, warnings }
  openCache().write(`run-${inputHash(config, file)}`, JSON.stringify(recorded))
}

function hashFile(out: string, path: string): string {
  return hashOf(readText(join(out, path)) ?? '')
}

/** All that a run reads: configuration, documents, changes with their tables, rules of extensions, the toolkit. */
function inputHash(config: Config, file: string): string {
  const changes = config.versions === undefined ? [] : filesBelow(config.versions)
  const inputs = [
    file,
    ...config.documents,
    ...changes,
    ...(config.extensions === undefined ? [] : [config.extensions]),
  ]
  return hashOf(toolkitHash(), ...inputs.flatMap((input) => [input, readIfThere(input)]))
}
