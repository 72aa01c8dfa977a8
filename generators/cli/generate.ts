/** `generate`, `check`, `docs`: load documents, pass the gate, emit files. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { LoadedChange } from '../change/load-changes.ts'
import { createReport, DiagnosticsError } from '../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import type { VersionPair } from '../gate/steps.ts'
import type { Api, OutputFile } from '../ir/model.ts'
import type { Drift } from '../output/write.ts'
import { compare } from '../print/file.ts'
import { type CommandOutcome, type CommandRun, count, loadFamily } from './run.ts'

interface Emitted {
  readonly apis: readonly Api[]
  readonly steps: readonly VersionPair[]
  readonly files: readonly OutputFile[]
}

/**
 * Generates all files in memory.
 *
 * @throws DiagnosticsError if the gate or an emitter reports an error.
 */
async function makeFiles(run: CommandRun, writesTypes: boolean): Promise<Emitted> {
  const apis = await loadFamily(run)
  const { loadChanges } = await import('../change/load-changes.ts')
  const versionNames = apis.map((api) => api.version)
  const changes = await loadChanges(run.config.versions, versionNames, run.report)
  const steps = await passGate(run, apis, changes, writesTypes)
  run.terminal.status?.(`emitting ${run.config.emit.join(', ')}`)
  const { emitAll } = await import('../generate/generate.ts')
  const emitted = await emitAll(apis, changes, run.config, run.report)
  run.report.finish()
  const { emitChangeIndex } = await import('../gate/change-index.ts')
  const { versions, emit: emitters } = run.config
  const indexed = versions !== undefined && emitters.includes('translations')
  const files = indexed ? [...emitted, emitChangeIndex(steps)] : emitted
  return { apis, steps, files: files.toSorted((a, b) => compare(a.path, b.path)) }
}

/** Runs the gate. Types are written even if the gate fails, because the missing change imports them. */
async function passGate(
  run: CommandRun,
  apis: readonly Api[],
  changes: readonly LoadedChange[],
  writesTypes: boolean,
): Promise<readonly VersionPair[]> {
  const { config, report, terminal } = run
  terminal.status?.('comparing adjacent versions')
  const [{ claimSteps }, { checkSteps }] = await Promise.all([
    import('../gate/steps.ts'),
    import('../gate/gate.ts'),
  ])
  const steps = claimSteps(apis, changes, config.versions !== undefined)
  for (const diagnostic of checkSteps(steps, config)) report.add(diagnostic)
  if (!report.diagnostics.some((each) => each.severity === 'error'))
    await (await import('./proven-steps.ts')).proveSteps(run, steps)
  if (writesTypes && report.diagnostics.some((each) => each.severity === 'error')) await writeTypes(run, apis)
  report.finish()
  return steps
}

async function writeTypes(run: CommandRun, apis: readonly Api[]): Promise<void> {
  const { config } = run
  if (!config.emit.includes('types')) return
  const [{ emitTypes, printTypes }, { emitClientTypes }, { writeFiles }] = await Promise.all([
    import('../emit/types/types.ts'),
    import('../emit/client/client.ts'),
    import('../output/write.ts'),
  ])
  const types = await printTypes(apis)
  // If a client is generated, its types are the source of the version types.
  const own = config.client ? emitClientTypes(apis, types.mapped) : []
  const files = [...own, ...emitTypes(apis, types, config.client !== undefined)]
  writeFiles(config.out, files, 'keep', config.builtWhenNeeded)
  run.wroteTypes = true
}

/** Findings that depend on the machine: folder permissions, installed packages. */
const OF_THIS_MACHINE = /^(?:output-|change-invalid$|types-failed$)/

/**
 * Skips the work if an earlier run had the same inputs and left the same output, and repeats the result of that
 * run.
 *
 * @param work makes the files; returns their number, and whether the output folder holds them.
 * @returns the number of files.
 * @throws DiagnosticsError
 */
async function onceFor(
  run: CommandRun,
  command: string,
  work: () => Promise<{ readonly files: number; readonly inPlace: boolean }>,
): Promise<number> {
  const { openMemory } = await import('./unchanged.ts')
  const memory = openMemory(run, command)
  const known = memory.recall()
  if (known) {
    for (const diagnostic of known.diagnostics) run.report.add(diagnostic)
    if (known.files !== undefined) return known.files
    run.wroteTypes = known.wroteTypes === true
    throw new DiagnosticsError(known.diagnostics)
  }
  try {
    const { files, inPlace } = await work()
    if (inPlace) memory.remember({ files, diagnostics: run.report.diagnostics })
    return files
  } catch (error) {
    if (!(error instanceof DiagnosticsError)) throw error
    const { diagnostics } = error
    if (!diagnostics.some((each) => OF_THIS_MACHINE.test(each.code)))
      memory.remember({ diagnostics, wroteTypes: run.wroteTypes })
    throw error
  }
}

export interface GenerateOptions {
  /** Reports what would change, and writes nothing. */
  readonly dry?: boolean
  /** Writes nothing, not even types, if the gate fails. */
  readonly keepsTypes?: boolean
}

/** Writes the output. */
export async function generate(
  run: CommandRun,
  { dry = false, keepsTypes = dry }: GenerateOptions = {},
): Promise<CommandOutcome> {
  let changed: readonly Drift[] = []
  const files = await onceFor(run, dry ? 'generate-dry' : 'generate', async () => {
    const emitted = await makeFiles(run, !keepsTypes)
    const { planFiles, writeFiles } = await import('../output/write.ts')
    const { out, builtWhenNeeded } = run.config
    changed = dry
      ? planFiles(out, emitted.files, builtWhenNeeded)
      : writeFiles(out, emitted.files, 'remove', builtWhenNeeded)
    return { files: emitted.files.length, inPlace: !dry }
  })
  return writtenOutcome(run, files, changed, dry)
}

function writtenOutcome(
  run: CommandRun,
  files: number,
  changed: readonly Drift[],
  dry: boolean,
): CommandOutcome {
  const [wrote, removed] = dry ? ['would write', 'would remove'] : ['wrote', 'removed']
  return {
    lines: [
      ...changed.map((each) => `${each.kind === 'stale' ? removed : wrote} ${each.path}`),
      `${run.config.out}: ${files} files, ${changed.length} ${dry ? 'would change' : 'changed'}`,
    ],
    data: {
      out: run.config.out,
      files,
      dryRun: dry,
      changed: changed.map(({ path, kind }) => ({ path, kind: kind === 'stale' ? 'removed' : 'written' })),
    },
  }
}

/** Fails if the output does not match the documents. */
export async function check(run: CommandRun): Promise<CommandOutcome> {
  const files = await onceFor(run, 'check', async () => {
    const { apis, files, steps } = await makeFiles(run, false)
    await reportMissing(run, steps)
    const [{ explainDrift }, { findDrift, planFiles }] = await Promise.all([
      import('../output/drift.ts'),
      import('../output/write.ts'),
    ])
    const { out, builtWhenNeeded } = run.config
    for (const diagnostic of explainDrift(findDrift(out, files, builtWhenNeeded), apis, run.config))
      run.report.add(diagnostic)
    run.report.finish()
    // Files that are built when needed may be missing: `check` accepts that, but the next `generate` writes them.
    return { files: files.length, inPlace: planFiles(out, files, builtWhenNeeded).length === 0 }
  })
  const { source } = run.config
  if (source !== undefined) await (await import('./freeze.ts')).checkSource(run, source)
  return checkedOutcome(run, files)
}

/** Reports a deleted change by name, instead of the drift that it causes. */
async function reportMissing({ config, report }: CommandRun, steps: readonly VersionPair[]): Promise<void> {
  const [{ CHANGE_INDEX, missingChanges }, { loadDocument }] = await Promise.all([
    import('../gate/change-index.ts'),
    import('../document/load.ts'),
  ])
  const index = join(config.out, CHANGE_INDEX)
  if (!existsSync(index)) return
  const placeIn = (file: string, pointer: string): SourceLocation =>
    loadDocument(file, createReport(), config)?.place(pointer) ?? { file, line: 1, column: 1, pointer }
  for (const each of missingChanges(readFileSync(index, 'utf8'), steps, placeIn)) report.add(each)
  report.finish()
}

function checkedOutcome({ config: { out } }: CommandRun, files: number): CommandOutcome {
  return { lines: [`${out}: ${count(files, 'file')} checked; all match the documents`], data: { out, files } }
}

/**
 * Writes all output, and reports the path of the documentation.
 *
 * @param folder also exports the documentation there, as static files.
 */
export async function docs(run: CommandRun, folder?: string): Promise<CommandOutcome> {
  const { apis, files } = await makeFiles(run, true)
  const { writeFiles } = await import('../output/write.ts')
  writeFiles(run.config.out, files, 'remove', run.config.builtWhenNeeded)
  const pages = [join(folder ?? join(run.config.out, 'site'), 'index.html')]
  if (folder !== undefined) {
    const [{ exportSite }, { printDocument }] = await Promise.all([
      import('../output/export-site.ts'),
      import('../emit/documents/documents.ts'),
    ])
    for (const { path, text } of exportSite(files, apis.map(printDocument))) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
  }
  return { lines: pages, data: { pages } }
}
