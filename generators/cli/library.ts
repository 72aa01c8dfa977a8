/** dateline as a library: the commands of a family, for programs. */

import { type Diagnostic, DiagnosticsError } from '../diagnostics/diagnostic.ts'
import type { CommandOutcome, CommandRun, Terminal } from './run.ts'

export type { Diagnostic } from '../diagnostics/diagnostic.ts'

/** The result of a command. */
export interface FamilyResult {
  /** False if there are errors, or, for `diff`, breaking differences without a change. */
  readonly ok: boolean
  readonly findings: readonly Diagnostic[]
  /** As the command prints it with `--json`. */
  readonly data: Readonly<Record<string, unknown>>
}

/** A family of documents, read from its configuration. Each call reads the files again. */
export interface Family {
  /** Writes the output. With `dryRun`, `data.changed` lists what would change. */
  generate(options?: { readonly dryRun?: boolean }): Promise<FamilyResult>
  /** Compares the output with the documents, and the documents with each other. Writes nothing. */
  check(): Promise<FamilyResult>
  /** Lists the differences between two versions or files in `data.differences`. */
  diff(old: string, next: string): Promise<FamilyResult>
  /** Searches for values that the changes translate incorrectly. */
  prove(options?: { readonly seconds?: number; readonly seed?: number }): Promise<FamilyResult>
}

const SILENT: Terminal = { out: () => undefined, error: () => undefined }

/**
 * Opens the family of a configuration file. Paths in it are relative to its folder.
 *
 * @example const { ok, findings } = await openFamily().check()
 */
export function openFamily(file = 'dateline.config.json'): Family {
  const perform = async (action: (run: CommandRun) => Promise<CommandOutcome>): Promise<FamilyResult> => {
    try {
      const { OK, openRun } = await import('./run.ts')
      const run = await openRun(file, SILENT)
      const { exit = OK, data } = await action(run)
      return { ok: exit === OK, findings: run.report.diagnostics, data }
    } catch (error) {
      if (!(error instanceof DiagnosticsError)) throw error
      return { ok: false, findings: error.diagnostics, data: {} }
    }
  }
  return {
    generate: ({ dryRun = false } = {}) =>
      perform(async (run) => (await import('./generate.ts')).generate(run, dryRun)),
    check: () => perform(async (run) => (await import('./generate.ts')).check(run)),
    diff: (old, next) => perform(async (run) => (await import('./diff.ts')).diff(run, old, next, false)),
    prove: ({ seconds = 20, seed } = {}) =>
      perform(async (run) =>
        (await import('./prove.ts')).prove(run, {
          seconds: String(seconds),
          ...(seed !== undefined && { seed: String(seed) }),
        }),
      ),
  }
}
