/**
 * Composes the changes of two steps into one, and proves that the older versions do not notice. Lenses of one step act
 * together and not in sequence, so that changes of both steps may not be about the same part.
 */
import { isDeepStrictEqual } from 'node:util'
import type { LoadedChange } from '../change/load-changes.ts'
import { createReport, type Diagnostic } from '../diagnostics/diagnostic.ts'
import { emitTranslations, type Translations } from '../emit/translations/translations.ts'
import { mayClaimNothing } from '../gate/claims.ts'
import { checkExamples } from '../gate/examples.ts'
import { checkSteps } from '../gate/gate.ts'
import { claimSteps, type VersionPair } from '../gate/steps.ts'
import type { Api } from '../ir/model.ts'
import { equalityLaws } from '../prove/equal.ts'
import { domainsOf } from '../prove/family.ts'
import { refute } from '../prove/law.ts'
import { told } from '../prove/lenses.ts'
import { statusesInFamily } from '../translate/transition.ts'
import type { SoundFamily } from './edit-family.ts'
import type { CommandRun } from './run.ts'

/** A change of the squashed step. */
export interface ComposedChange {
  readonly change: LoadedChange
  /** The file that it is in now. */
  readonly source: string
  /** Positions of its examples that do not hold in the squashed step, because both steps change their component. */
  readonly without: readonly number[]
}

/** Returns the changes to and from a version as those of one step, without those that have no effect in it. */
export function composeChanges({ apis, changes }: SoundFamily, index: number): ComposedChange[] {
  const [old, removed, next] = [apis[index - 1]!, apis[index]!, apis[index + 1]!]
  const own = [removed, next].flatMap(({ version }) => changes.filter((each) => each.version === version))
  const needed = neededIn(
    old,
    next,
    own.map((change) => ({ ...change, version: next.version })),
  )
  const bare = needed.map(({ examples: _, ...change }) => change)
  return needed.map((change) => {
    const { examples = [], file } = change
    const others = bare.filter((each) => each.file !== file)
    const fails = examples.map(
      (example) => checkExamples(old, next, [...others, { ...change, examples: [example] }]).length > 0,
    )
    return {
      change: { ...change, examples: examples.filter((_, at) => !fails[at]) },
      source: file,
      without: [...fails.keys()].filter((at) => fails[at]),
    }
  })
}

/** Leaves out changes without a difference: the other step undoes them, or the old version lacks what they are about. */
function neededIn(old: Api, next: Api, changes: readonly LoadedChange[]): readonly LoadedChange[] {
  const { claimed } = claimSteps([old, next], changes)[0]!
  const needed = changes.filter(
    (change) => claimed.some(({ by }) => by.includes(change)) || change.lenses.some(mayClaimNothing),
  )
  return needed.length === changes.length ? changes : neededIn(old, next, needed)
}

/** Number of generated values for each translation. */
const RUNS = 200
const SEED = 20260101
/** Number of examples to report. */
const EXAMPLES = 5

/**
 * Compares the translations of all older versions before and after: the ids, names and statuses of operations
 * exactly, and the functions of the version before the removed one on generated values. The translations of newer
 * versions must have the same text.
 *
 * @returns the number of translations that were compared.
 * @throws DiagnosticsError with an example of each translation that differs.
 */
export function proveSquash(
  run: CommandRun,
  family: SoundFamily,
  index: number,
  composed: readonly ComposedChange[],
): number {
  const { config, report } = run
  const { apis, changes, steps } = family
  const [old, removed, next] = [apis[index - 1]!, apis[index]!, apis[index + 1]!]
  const added = composed.map(({ change }) => change)
  const [after] = claimSteps([old, next], added) as [VersionPair]
  const gate = checkSteps([after], config).filter(({ severity }) => severity === 'error')
  for (const diagnostic of gate) report.add(diagnostic)
  if (gate.length > 0) report.add(notSquashed(run, old.version, removed.version, next.version))
  report.finish()

  run.terminal.status?.(`comparing the translations of ${old.version} before and after`)
  const left = {
    apis: apis.filter((api) => api !== removed),
    changes: [
      ...changes.filter(({ version }) => version !== removed.version && version !== next.version),
      ...added,
    ],
  }
  const [one, other] = [translationsOf(run, { apis, changes }), translationsOf(run, left)]
  for (const difference of factsThatDiffer(left.apis.slice(0, index), one, other)) report.add(difference)
  for (const difference of textsThatDiffer(apis.slice(index + 1), one, other)) report.add(difference)
  const statuses = statusesInFamily(apis.slice(index - 1))
  const laws = equalityLaws({ before: steps.slice(index - 1, index + 1), after, statuses }, domainsOf(steps))
  const found = laws.flatMap((law) => refute(law, { runs: RUNS, seed: SEED }) ?? [])
  for (const { law, message, counterexample } of found.slice(0, EXAMPLES))
    report.add(differs(`${old.version} ${law.name}: ${message}; found with ${told(counterexample)}`))
  if (report.diagnostics.some(({ severity }) => severity === 'error'))
    report.add(notSquashed(run, old.version, removed.version, next.version))
  report.finish()
  return laws.length
}

function translationsOf(
  { config, report }: CommandRun,
  { apis, changes }: Pick<SoundFamily, 'apis' | 'changes'>,
): Translations {
  const own = createReport()
  const translations = emitTranslations(apis, changes, own, config.out)
  for (const each of own.diagnostics) if (each.severity === 'error') report.add(each)
  return translations
}

/** Reports operations whose id, parameters or statuses have different names in the newest version. */
function factsThatDiffer(apis: readonly Api[], before: Translations, after: Translations): Diagnostic[] {
  return apis.flatMap(({ version, operations }) =>
    operations.flatMap((operation) => {
      const factsOf = ({ bindings }: Translations) => {
        const own = bindings.get(version)
        return own && [own.canonicalId(operation), own.names(operation), own.statusNames(operation)]
      }
      const [one, other] = [factsOf(before), factsOf(after)]
      if (isDeepStrictEqual(one, other)) return []
      return [differs(`${version} ${operation.id}: its id, parameters or statuses are renamed differently`)]
    }),
  )
}

/** Reports generated code of newer versions that would change. Older ones call the functions that the laws compare. */
function textsThatDiffer(apis: readonly Api[], before: Translations, after: Translations): Diagnostic[] {
  const textOf = ({ files }: Translations, path: string) => files.find((file) => file.path === path)?.text
  return apis
    .map(({ version }) => `translations/${version}.ts`)
    .filter((path) => textOf(before, path) !== textOf(after, path))
    .map((path) => differs(`${path} would change`))
}

const differs = (message: string): Diagnostic => ({
  code: 'proof-differs',
  severity: 'error',
  message,
  hint: 'write changes for the squashed step that give the same as both steps',
})

function notSquashed({ config }: CommandRun, old: string, version: string, next: string): Diagnostic {
  const folders = [version, next].map((each) => `${config.versions ?? 'versions'}/${each}`)
  return {
    code: 'version-not-squashed',
    severity: 'error',
    message: `the changes of ${version} and ${next} are about the same parts, so that they cannot act in one step`,
    hint: `copy ${folders.join(' and ')} into one new folder, write one change there for each part that both change (\`dateline diff ${old} ${next}\` lists the differences), and run the command again with \`--changes FOLDER\``,
  }
}
