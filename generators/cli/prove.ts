/** `prove`: searches for a value that a lens, or all lenses of a version together, translate incorrectly. */

import type { Law, Refutation } from '../prove/law.ts'
import { type CommandOutcome, type CommandRun, count, loadFamily, UsageError } from './run.ts'

export interface ProveOptions {
  /** Time limit of the search. */
  readonly seconds?: string
  /** Seed of the generated values. */
  readonly seed?: string
}

const SECONDS = 20
const FIRST_RUNS = 20
const MAX_RUNS = 10_000

/** Tests every law once before it tests any law longer. */
export async function prove(run: CommandRun, options: ProveOptions): Promise<CommandOutcome> {
  const seconds = numberOf('--seconds', options.seconds, SECONDS)
  const seed = numberOf('--seed', options.seed, Date.now() % 2 ** 31)
  const laws = await lawsOfFamily(run)
  const [{ isTried, refute }, { told }] = await Promise.all([
    import('../prove/law.ts'),
    import('../prove/lenses.ts'),
  ])
  // The time limit starts after loading the family.
  const end = performance.now() + seconds * 1000
  const found = new Map<Law, Refutation>()
  const tried = new Set<Law>()
  for (let runs = FIRST_RUNS; runs <= MAX_RUNS && performance.now() < end; runs *= 2) {
    for (const law of laws) {
      const limit = end - performance.now()
      if (limit <= 0) break
      if (found.has(law)) continue
      tried.add(law)
      const refutation = refute(law, { runs, seed: seed + runs, limit })
      if (refutation) found.set(law, refutation)
    }
  }
  for (const each of found.values()) report(run, each, told(each.counterexample), seed)
  const untried = laws.length - tried.size
  if (untried > 0)
    run.report.add({
      code: 'proof-unfinished',
      severity: 'warning',
      message: `${untried} of ${count(laws.length, 'law')} were not tested within ${seconds} s`,
      hint: 'increase `--seconds`',
    })
  const impossible = [...tried].filter((law) => !isTried(law, seed))
  if (impossible.length > 0)
    run.report.add({
      code: 'proof-unfinished',
      severity: 'warning',
      message: `no value could be generated for ${count(impossible.length, 'law')}, the first: ${impossible[0]!.name}`,
      hint: 'add values of its components to a change, as `values`',
    })
  run.report.finish()
  return {
    lines: [
      `${count(laws.length, 'law')} about ${count(run.config.documents.length, 'version')}, none refuted (seed ${seed})`,
    ],
    data: { laws: laws.length, tried: tried.size, seed },
  }
}

function numberOf(name: string, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text)
  if (!Number.isFinite(value) || value < 0)
    throw new UsageError(`${name} must be a number of at least 0, not ${text}`)
  return value
}

/** @throws DiagnosticsError if the gate reports an error, because unclaimed differences cannot be translated. */
async function lawsOfFamily(run: CommandRun): Promise<Law[]> {
  const { config, report, terminal } = run
  const apis = await loadFamily(run)
  const [{ loadChanges }, { claimSteps }, { checkSteps }, { proveSteps }] = await Promise.all([
    import('../change/load-changes.ts'),
    import('../gate/steps.ts'),
    import('../gate/gate.ts'),
    import('../prove/family.ts'),
  ])
  const changes = await loadChanges(
    config.versions,
    apis.map((api) => api.version),
    report,
  )
  const steps = claimSteps(apis, changes)
  for (const diagnostic of checkSteps(steps, config)) report.add(diagnostic)
  report.finish()
  terminal.status?.('searching for a value that is translated incorrectly')
  return proveSteps(steps)
}

function report(
  run: CommandRun,
  { law, code, message, place }: Refutation,
  example: string,
  seed: number,
): void {
  const at =
    place ?? (law.file === undefined ? undefined : { file: law.file, line: 1, column: 1, pointer: '' })
  run.report.add({
    code,
    severity: 'error',
    message: `${law.name}: ${message}; found with ${example}`,
    ...(at && { place: at }),
    hint: `correct the lens${code === 'proof-round-trip' ? ', or declare what is lost: `loss`' : ''}; to reproduce, run with \`--seed ${seed}\``,
  })
}
