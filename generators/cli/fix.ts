/** `generate --fix`: writes the changes that the gate drafts. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { holesIn } from '../change/decide.ts'
import { loadChanges } from '../change/load-changes.ts'
import { createReport, type Diagnostic } from '../diagnostics/diagnostic.ts'
import { checkSteps } from '../gate/gate.ts'
import { claimSteps } from '../gate/steps.ts'
import { loadApis } from '../generate/generate.ts'
import { type CommandRun, count, UsageError } from './run.ts'

/**
 * Writes a draft for each breaking difference without a change, and again for the differences that remain, until the gate drafts
 * nothing more. Files that exist are kept. Reports each written file with the number of its holes.
 *
 * @throws UsageError if the family has no folder of changes.
 * @throws DiagnosticsError if a document cannot be read.
 */
export async function writeDrafts({ config, report }: CommandRun): Promise<void> {
  if (config.versions === undefined)
    throw new UsageError('--fix: set `versions` in the configuration file to a folder of changes')
  // `generate` reports the findings again.
  const own = createReport()
  const apis = await loadApis(config, own)
  own.finish()
  const versions = apis.map(({ version }) => version)
  const written = new Set<string>()
  /** What was drafted: a draft that does not account for its difference is not written again. */
  const drafted = new Set<string>()
  for (;;) {
    const changes = await loadChanges(config.versions, versions, createReport())
    const drafts = checkSteps(claimSteps(apis, changes), config).flatMap(({ draft }) =>
      draft && !existsSync(draft.file) && !drafted.has(lensesOf(draft)) ? draft : [],
    )
    for (const { file, text } of drafts) {
      drafted.add(lensesOf({ file, text }))
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text, { flag: 'wx' })
      written.add(file)
    }
    if (drafts.length > 0) continue
    for (const change of changes.filter(({ file }) => written.has(file))) {
      const holes = holesIn(change).length
      report.add({
        code: 'draft-written',
        severity: 'note',
        message: `wrote ${change.file}${holes > 0 ? `, which leaves ${count(holes, 'decision')}` : ''}`,
      })
    }
    const left = changes.flatMap((change) => holesIn(change)).length
    report.add({
      code: 'draft-written',
      severity: 'note',
      message: `wrote ${count(written.size, 'draft')}; ${count(left, 'decision')} left`,
    })
    return
  }
}

/** Returns the lenses of a draft, with its folder, which belongs to a version. */
const lensesOf = ({ file, text }: NonNullable<Diagnostic['draft']>): string =>
  dirname(file) + text.slice(text.indexOf('lenses: ['))
