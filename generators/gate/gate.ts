/**
 * The gate: every breaking difference needs exactly one change that accounts for it, and every change must account
 * for a difference. Findings show the lines of both documents, the file to write, and a draft of it.
 */
import { dirname, join, relative } from 'node:path'
import { alignApi, servedIds } from '../change/align.ts'
import type { SchemaLens } from '../change/change.ts'
import { holesIn } from '../change/decide.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import type { Diagnostic } from '../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import { type Difference, formatLocation } from '../diff/difference.ts'
import type { Api } from '../ir/model.ts'
import { printDraft } from '../propose/draft-file.ts'
import { type ProposedChange, proposeChanges, summaryOf } from '../propose/proposed-change.ts'
import { isSameValue } from '../runtime/same-value.ts'
import { schemaAt } from '../translate/inline-place.ts'
import { faultsOfMove } from '../translate/moves.ts'
import { shapeOf } from '../translate/shape.ts'
import { toPrinted } from '../witness/print.ts'
import { createJudge, type Judge } from '../witness/witness.ts'
import { checkBehaviour } from './behaviour.ts'
import { mayClaimNothing } from './claims.ts'
import { checkExamples, reach } from './examples.ts'
import { missingValues } from './missing-values.ts'
import { nameableIn } from './nameable.ts'
import { type AccountedDifference, claimDifferences, keyOf, type VersionPair } from './steps.ts'

/** The folder of changes, if the family has one, and the folder of generated types. */
export interface Folders {
  readonly versions?: string
  readonly out: string
}

/** Returns findings for all version pairs. Unclaimed breaks are warnings if the family has no folder of changes. */
export function checkSteps(steps: readonly VersionPair[], folders: Folders): Diagnostic[] {
  return [...steps.flatMap((step) => checkStep(step, folders)), ...checkBehaviour(steps)]
}

/**
 * Only breaking differences must be claimed; the table in claims.ts decides which lens may claim which difference.
 */
function checkStep({ old, next, changes, claimed }: VersionPair, folders: Folders): Diagnostic[] {
  const breaking = claimed.filter(({ difference }) => difference.class === 'breaking')
  const lenses = changes.flatMap((change) => change.lenses)
  const judge = createJudge(alignApi(old, lenses), next, servedIds(lenses))
  // Changes with holes account for their differences, and cannot be checked further.
  const decided = changes.filter((change) => holesIn(change).length === 0)
  const orphans = breaking.filter(({ by }) => by.length === 0).map(({ difference }) => difference)
  const isDisproven = (difference: Difference) => judge(difference).kind === 'disproven'
  const open = orphans.filter((difference) => !isDisproven(difference))
  return [
    ...alphaBreaks(claimed),
    ...orphans.filter(isDisproven).map((difference) => disproven(difference, judge)),
    ...proposalsFor(open, old, next, changes).map((proposed) =>
      unclaimed(proposed, old, next, folders, judge),
    ),
    ...claimedTwice(breaking),
    ...changes.flatMap((change) => findChangesWithoutDifference(change, claimed)),
    ...decided.flatMap((change) => findNeedlessOmissions(change, next)),
    ...changes.flatMap((change) => findUnknownEvents(change, old, next)),
    ...changes.flatMap((change) => findUnreachedPlaces(change, alignEvents(old, changes), next)),
    ...decided.flatMap((change) => findImpossibleMoves(change, changes, old, next)),
    ...changes.flatMap(findUnstatedLosses),
    ...missingValues(old, next, decided),
    ...(decided.length === changes.length ? checkExamples(old, next, changes) : []),
  ]
}

/**
 * Proposes changes for differences that no change accounts for. If a proposal is a rename, the differences that
 * remain under the new name get proposals too, so that one run reports everything.
 */
export function proposalsFor(
  orphans: readonly Difference[],
  old: Api,
  next: Api,
  changes: readonly LoadedChange[],
): ProposedChange[] {
  const all = [...orphans]
  const told = new Set(all.map(keyOf))
  const lenses = changes.flatMap((change) => change.lenses)
  for (;;) {
    const proposed = proposeChanges(
      all,
      nameableIn(alignApi(old, lenses), next),
      changes.map(({ id }) => id),
    )
    const naming = proposed.flatMap((each) => each.naming ?? [])
    if (naming.every((lens) => lenses.some((each) => isSameValue(each, lens)))) return proposed
    lenses.push(...naming)
    const assumed = { id: '', why: '', version: next.version, file: '', lenses: naming }
    const more = claimDifferences(old, next, [...changes, assumed]).filter(
      ({ difference, by }) =>
        difference.class === 'breaking' && by.length === 0 && !told.has(keyOf(difference)),
    )
    for (const { difference } of more) {
      told.add(keyOf(difference))
      all.push(difference)
    }
  }
}

/** Lists differences of alpha parts that would otherwise be breaking. */
const alphaBreaks = (claimed: readonly AccountedDifference[]): Diagnostic[] =>
  claimed.flatMap(({ difference }) =>
    difference.class === 'alpha'
      ? [
          {
            code: 'break-in-alpha',
            severity: 'note',
            message: `${difference.code} ${formatLocation(difference.at)}: ${difference.message}; the part is alpha, so it is not translated`,
            ...placesOf(difference),
          } satisfies Diagnostic,
        ]
      : [],
  )

/** Lists differences that no message can show. */
const disproven = (difference: Difference, judge: Judge): Diagnostic => ({
  code: 'break-disproven',
  severity: 'note',
  message: `${difference.code} ${formatLocation(difference.at)}: ${difference.message}`,
  verdict: toPrinted(judge(difference)),
  ...placesOf(difference),
})

function unclaimed(
  proposed: ProposedChange,
  old: Api,
  next: Api,
  folders: Folders,
  judge: Judge,
): Diagnostic {
  const { differences } = proposed
  const first = differences[0]!
  const evidence = first.proposal ? ` (looks like a ${describeProposal(first)})` : ''
  const message = `${first.code} ${summaryOf(differences)}${evidence}`
  const file = join(folders.versions ?? 'versions', next.version, `${proposed.id}.ts`)
  return {
    code: 'break-unclaimed',
    severity: folders.versions === undefined ? 'warning' : 'error',
    message: `${message}, and no change of ${next.version} accounts for it`,
    verdict: toPrinted(judge(first)),
    ...placesOf(first),
    ...(folders.versions === undefined
      ? { hint: 'to translate it, set `versions` in the configuration file to a folder of changes' }
      : {
          hint: `write ${file}, for example`,
          draft: { file, text: draftOf(proposed, old, next, file, folders) },
        }),
  }
}

function describeProposal({ proposal }: Difference): string {
  if (!proposal) return ''
  return `${proposal.kind} to ${proposal.to.join(', ')}: ${proposal.evidence.join(', ')}`
}

function placesOf(difference: Difference): {
  readonly place?: SourceLocation
  readonly other?: SourceLocation
} {
  return {
    ...(difference.new && { place: difference.new }),
    ...(difference.old && { other: difference.old }),
  }
}

/** Returns the text of a draft, with imports relative to its file. */
function draftOf(proposed: ProposedChange, old: Api, next: Api, file: string, folders: Folders): string {
  const from = (path: string) => {
    const to = relative(dirname(file), path).replaceAll('\\', '/')
    return to.startsWith('.') ? to : `./${to}`
  }
  const types = (api: Api) => from(join(folders.out, api.version, 'types.ts'))
  return printDraft(proposed, { old: types(old), next: types(next) })
}

function claimedTwice(claimed: readonly AccountedDifference[]): Diagnostic[] {
  const told = new Set<string>()
  return claimed.flatMap(({ difference, by }) => {
    const files = by.map((change) => change.file)
    const key = `${difference.code} ${difference.message} ${files}`
    if (files.length < 2 || told.has(key)) return []
    told.add(key)
    return [
      {
        code: 'break-claimed-twice',
        severity: 'error',
        message: `${difference.code} ${formatLocation(difference.at)}: ${difference.message}; both ${files.join(' and ')} account for it`,
        ...placesOf(difference),
        hint: 'remove it from one of them; otherwise it is translated twice',
      } satisfies Diagnostic,
    ]
  })
}

const placeIn = (change: LoadedChange): SourceLocation => ({
  file: change.file,
  line: 1,
  column: 1,
  pointer: '',
})

function findChangesWithoutDifference(
  change: LoadedChange,
  claimed: readonly AccountedDifference[],
): Diagnostic[] {
  if (claimed.some(({ by }) => by.includes(change)) || change.lenses.some(mayClaimNothing)) return []
  return [
    {
      code: 'change-claims-nothing',
      severity: 'error',
      message: `${change.id} accounts for no difference between ${change.version} and the version before it`,
      place: placeIn(change),
      hint: 'correct the names in its lenses or delete the file',
    },
  ]
}

/** Reports `leave-out` lenses on lists that never hold the members to omit. */
function findNeedlessOmissions(change: LoadedChange, next: Api): Diagnostic[] {
  return change.lenses.flatMap((lens) => {
    if (lens.kind !== 'leave-out') return []
    const isMissing = (component: string): boolean => {
      const schema = schemaAt(next, component)
      const list = schema && shapeOf(schema, next, new Set([component]))?.properties.get(lens.property)
      const reached = new Set<string>()
      if (list) reach(list.schema, next, reached)
      return !reached.has(lens.unless)
    }
    return lens.schemas.filter(isMissing).map(
      (component): Diagnostic => ({
        code: 'change-claims-nothing',
        severity: 'error',
        message: `${change.id} leaves ${lens.unless} members out of ${component}.${lens.property}, but that list never holds ${lens.unless}`,
        place: placeIn(change),
        hint: 'correct the names in its lenses',
      }),
    )
  })
}

/** Reports renames of event types that the old or the new API does not have: no payload would be sent under the name. */
function findUnknownEvents(change: LoadedChange, old: Api, next: Api): Diagnostic[] {
  return change.lenses.flatMap((lens) => {
    if (lens.kind !== 'renamed-event') return []
    const unknown = [
      { api: old, event: lens.from },
      { api: next, event: lens.to },
    ].filter(({ api, event }) => !api.events.some(({ name }) => name === event))
    return unknown.map(
      ({ api, event }): Diagnostic => ({
        code: 'change-claims-nothing',
        severity: 'error',
        message: `${change.id} renames event ${lens.from} to ${lens.to}, but ${api.version} has no event ${event}`,
        place: placeIn(change),
        hint: 'correct the names in its lenses',
      }),
    )
  })
}

/** Returns the old API with the event types of the new one. The generated types do not list them. */
function alignEvents(old: Api, changes: readonly LoadedChange[]): Api {
  const lenses = changes.flatMap((change) => change.lenses)
  return alignApi(
    old,
    lenses.filter(({ kind }) => kind === 'renamed-event'),
  )
}

/** A lens on a whole value is not tied to an object; if it names no value, it accounts for nothing. */
const isWhole = (lens: SchemaLens): boolean => lens.kind === 'convert' && lens.property === undefined

/** Reports lens targets that no translation reaches. */
function findUnreachedPlaces(change: LoadedChange, old: Api, next: Api): Diagnostic[] {
  const places = change.lenses
    .flatMap((lens) => ('schemas' in lens && !isWhole(lens) ? lens.schemas : []))
    .filter((name) => /[ .[{|]/.test(name) && !next.schemas.has(name))
  if (places.length === 0) return []
  const { isSite } = nameableIn(old, next)
  return places
    .filter((place) => !isSite(place))
    .map((place) => ({
      code: 'change-claims-nothing',
      severity: 'error',
      message: `${change.id} targets ${place}, but no object is translated there`,
      place: placeIn(change),
      hint: 'name a component of both versions, or a location in the JSON of a request body, a response or an event',
    }))
}

/**
 * Reports moves with a nonexistent source or target, and properties lost with an object whose other properties
 * move.
 */
function findImpossibleMoves(
  change: LoadedChange,
  changes: readonly LoadedChange[],
  old: Api,
  next: Api,
): Diagnostic[] {
  const moved = (each: LoadedChange) => each.lenses.filter((lens) => lens.kind === 'moved')
  const complain = (code: string, message: string, hint: string): Diagnostic => ({
    code,
    severity: 'error',
    message: `${change.id}: ${message}`,
    place: placeIn(change),
    hint,
  })
  const isKept = (path: string) =>
    !change.lenses.some(
      (lens) =>
        lens.kind === 'drop' && lens.schemas.some((name) => path.startsWith(`${name}.${lens.property}.`)),
    )
  return moved(change).flatMap((lens) => {
    const { astray, lost } = faultsOfMove(lens, changes.flatMap(moved), old, next)
    return [
      ...astray.map((path) =>
        complain('change-claims-nothing', `${path} does not exist`, 'correct the names in its lenses'),
      ),
      ...lost
        .filter(isKept)
        .map((path) =>
          complain(
            'change-lossy',
            `${path} is lost when its parent object is removed`,
            "move it too, or declare that it is dropped: `loss: 'drop'`",
          ),
        ),
    ]
  })
}

/** Reports lenses that lose information without declaring it. */
function findUnstatedLosses(change: LoadedChange): Diagnostic[] {
  return change.lenses.flatMap((lens) => {
    const reason = lossOf(lens)
    if (reason === undefined) return []
    return [
      {
        code: 'change-lossy',
        severity: 'error',
        message: `${change.id}: ${reason}, but the lens does not declare \`loss\``,
        place: placeIn(change),
        hint: "add `loss: 'merge'` or `loss: 'drop'` to the lens",
      } satisfies Diagnostic,
    ]
  })
}

function lossOf(lens: LoadedChange['lenses'][number]): string | undefined {
  // The types require `loss` too, but change files may run without type checking.
  const declared: unknown = 'loss' in lens ? lens.loss : undefined
  if (declared !== undefined) return undefined
  if (lens.kind === 'drop') return `${lens.property} is lost on the way up`
  if (lens.kind === 'wrapped')
    return `all but the first item of ${lens.list === 'new' ? lens.to : lens.from} are lost`
  if (lens.kind === 'leave-out') return `members of ${lens.property} are lost on the way down`
  if (lens.kind !== 'values') return undefined
  if (Object.keys(lens.merge).length > 0)
    return `${Object.keys(lens.merge).join(', ')} become the same member as others on the way down`
  const targets = Object.values(lens.rename)
  const twice = targets.find((target, index) => targets.indexOf(target) !== index)
  return twice === undefined ? undefined : `several members become ${JSON.stringify(twice)} on the way up`
}
