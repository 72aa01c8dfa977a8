/** dateline as a library: the commands of a family, for programs. */

import { type Diagnostic, DiagnosticsError } from '../diagnostics/diagnostic.ts'
import type { FamilyConfig } from '../generate/config.ts'
import type { CommandOutcome, CommandRun, Terminal } from './run.ts'

export type { Diagnostic } from '../diagnostics/diagnostic.ts'
export type { FamilyConfig } from '../generate/config.ts'

/** The result of a command. */
export interface FamilyResult {
  /** False if there are errors, or, for `diff`, breaking differences without a change. */
  readonly ok: boolean
  readonly findings: readonly Diagnostic[]
  /** As the command prints it with `--json`. */
  readonly data: Readonly<Record<string, unknown>>
}

/** A family of documents, named by its configuration file. Each command reads the files again. */
export interface Family {
  readonly file: string
}

/**
 * Types the default export of `dateline.config.ts`.
 *
 * @example export default defineConfig({ documents: './openapi', out: './generated' })
 */
export const defineConfig = (config: FamilyConfig): FamilyConfig => config

const SILENT: Terminal = { out: () => undefined, error: () => undefined }

/**
 * Names the family of a configuration file, for the commands below. Paths in the file are relative to its folder.
 *
 * @example const { ok, findings } = await check(loadFamily())
 */
export function loadFamily(file = 'dateline.config.json'): Family {
  return { file }
}

async function perform(
  { file }: Family,
  action: (run: CommandRun) => Promise<CommandOutcome>,
): Promise<FamilyResult> {
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

/** Writes the output. With `dryRun`, `data.changed` lists what would change. With `fix`, writes drafts of missing changes first. */
export function generate(
  family: Family,
  { dryRun = false, fix = false }: { readonly dryRun?: boolean; readonly fix?: boolean } = {},
): Promise<FamilyResult> {
  return perform(family, async (run) => (await import('./generate.ts')).generate(run, { dry: dryRun, fix }))
}

/** Compares the output with the documents, and the documents with each other. Writes nothing. */
export function check(family: Family): Promise<FamilyResult> {
  return perform(family, async (run) => (await import('./generate.ts')).check(run))
}

/** Lists the differences between two versions or files in `data.differences`. */
export function diff(family: Family, old: string, next: string): Promise<FamilyResult> {
  return perform(family, async (run) => (await import('./diff.ts')).diff(run, [old, next]))
}

/** Searches for values that the changes translate incorrectly. */
export function prove(
  family: Family,
  { seconds = 20, seed }: { readonly seconds?: number; readonly seed?: number } = {},
): Promise<FamilyResult> {
  return perform(family, async (run) =>
    (await import('./prove.ts')).prove(run, {
      seconds: String(seconds),
      ...(seed !== undefined && { seed: String(seed) }),
    }),
  )
}

/** Reports in `data.findings` and `data.callers` what an upgrade changes and breaks in recorded traffic. `to` defaults to the newest version. */
export function replay(
  family: Family,
  files: readonly string[],
  options: { readonly from: string; readonly to?: string; readonly caller?: string },
): Promise<FamilyResult> {
  return perform(family, async (run) => (await import('./replay.ts')).replay(run, files, options))
}

/** Lists the operations without a handler in `data.missing`. The configuration must name the folder of handlers. */
export function findMissingHandlers(family: Family): Promise<FamilyResult> {
  return perform(family, async (run) => (await import('./stub.ts')).stub(run, true))
}
