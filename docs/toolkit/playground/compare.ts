/**
 * Compares two documents: differences, drafts of changes, and translations of example values. It uses only the phases
 * of the toolkit that read no files, so it runs in a browser.
 */
import { between, type Lens } from '../../../generators/change/change.ts'
import type { LoadedChange } from '../../../generators/change/load-changes.ts'
import { groupDifferences } from '../../../generators/cli/difference-groups.ts'
import { judgeDifferences } from '../../../generators/cli/judge-differences.ts'
import { createReport, type Diagnostic } from '../../../generators/diagnostics/diagnostic.ts'
import { linesOfVerdict } from '../../../generators/diagnostics/verdict.ts'
import type { Difference } from '../../../generators/diff/difference.ts'
import { parseText } from '../../../generators/document/load.ts'
import { proposalsFor } from '../../../generators/gate/gate.ts'
import { claimDifferences } from '../../../generators/gate/steps.ts'
import { buildApi } from '../../../generators/ir/build.ts'
import type { Api } from '../../../generators/ir/model.ts'
import { printDraft } from '../../../generators/propose/draft-file.ts'
import { createTransition, type Transition } from '../../../generators/translate/transition.ts'
import { type Translation, translationsOf } from './translations.ts'

/** The text of a document, and the name that messages give it. */
export interface DocumentText {
  readonly file: string
  readonly text: string
}

export interface ReadDocument {
  /** Undefined if the text is not an OpenAPI document. */
  readonly api: Api | undefined
  readonly findings: readonly Diagnostic[]
}

/** Reads a document. Unsupported parts are left out, and reported as warnings. */
export function readDocument({ file, text }: DocumentText): ReadDocument {
  const report = createReport()
  const document = parseText(file, text, report, { strict: false })
  const api = document && buildApi(document, report, false)
  const isUsable = !report.diagnostics.some(({ severity }) => severity === 'error')
  return { api: isUsable ? api : undefined, findings: report.diagnostics }
}

/** The constructors of lenses, without the types of two versions. */
export const LENSES = between()

/**
 * Runs the source text of lenses, for example `v.rename(['Book'], 'title', 'name')`.
 *
 * @throws Error if the text is not a list of lenses
 */
export function evaluateLenses(text: string): readonly Lens[] {
  const lenses: unknown = new Function('v', `'use strict'; return [${text}\n]`)(LENSES)
  const isLens = (each: unknown): each is Lens => typeof each === 'object' && each !== null && 'kind' in each
  if (!Array.isArray(lenses) || !lenses.every(isLens))
    throw new Error('each entry must be a lens: `v.rename(…)`')
  return lenses
}

/** A change that accounts for differences, as a draft or as the reader edited it. */
export interface ChangeDraft {
  readonly id: string
  /** Source text of the lenses. */
  readonly lenses: string
  /** The complete file. */
  readonly file: string
  /** Why the lenses cannot run. */
  readonly problem?: string
}

/** A difference at one or more locations. Lines are 1-based. */
export interface ListedDifference {
  readonly class: Difference['class']
  readonly code: string
  readonly places: readonly string[]
  readonly messages: readonly string[]
  readonly oldLine?: number
  readonly newLine?: number
  /** Ids of the changes that account for it. */
  readonly by: readonly string[]
  /** The lines of the verdict, if the difference is breaking. */
  readonly verdict?: readonly string[]
}

export interface Comparison {
  readonly differences: readonly ListedDifference[]
  readonly changes: readonly ChangeDraft[]
  readonly translations: readonly Translation[]
  /** Locations whose values differ, but are not translated. */
  readonly missed: readonly string[]
}

/** Texts that a reader edited. */
export interface Edits {
  /** Lenses by id of the change. */
  readonly lenses: Readonly<Record<string, string>>
  /** JSON texts by id of the translation. */
  readonly values: Readonly<Record<string, string>>
}

/** Compares two documents, with a draft for each difference that breaks callers. */
export function compare(old: Api, next: Api, edits: Edits = { lenses: {}, values: {} }): Comparison {
  const drafted = draftChanges(old, next, [], edits)
  // A change can leave differences that its draft accounted for, if the reader edited it.
  const rest = draftChanges(old, next, drafted, edits)
  const all = [...drafted, ...rest]
  const changes = all.flatMap(({ change }) => change ?? [])
  const transition = createTransition(old, next, changes)
  return {
    differences: listDifferences(old, next, changes),
    changes: all.map(({ draft }) => draft),
    translations: translationsOf(transition, edits.values),
    missed: missedIn(transition),
  }
}

interface Drafted {
  readonly draft: ChangeDraft
  readonly change: LoadedChange | undefined
}

function draftChanges(old: Api, next: Api, before: readonly Drafted[], edits: Edits): Drafted[] {
  const changes = before.flatMap(({ change }) => change ?? [])
  const orphans = claimDifferences(old, next, changes)
    .filter(({ difference, by }) => difference.class === 'breaking' && by.length === 0)
    .map(({ difference }) => difference)
  const taken = new Set(before.map(({ draft }) => draft.id))
  return proposalsFor(orphans, old, next, changes)
    .filter(({ id }) => !taken.has(id))
    .map(({ id, lens }) => draftOf(id, edits.lenses[id] ?? lens, old, next))
}

function draftOf(id: string, lenses: string, old: Api, next: Api): Drafted {
  const types = (api: Api) => `../../generated/${api.version}/types.ts`
  const file = printDraft({ id, lens: lenses.trim() }, { old: types(old), next: types(next) })
  const draft = { id, lenses, file }
  if (/…/.test(lenses)) return { draft: { ...draft, problem: 'Replace … with a value.' }, change: undefined }
  try {
    const change = { id, why: '', version: next.version, file: `${id}.ts`, lenses: evaluateLenses(lenses) }
    return { draft, change }
  } catch (error) {
    return { draft: { ...draft, problem: messageOf(error) }, change: undefined }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function listDifferences(old: Api, next: Api, changes: readonly LoadedChange[]): ListedDifference[] {
  const judged = judgeDifferences(old, next, changes)
  return groupDifferences(judged).map(({ first, messages, places, by, verdict }) => ({
    class: first.class,
    code: first.code,
    places,
    messages,
    ...(first.old && { oldLine: first.old.line }),
    ...(first.new && { newLine: first.new.line }),
    by: by.map((file) => file.replace(/\.ts$/, '')),
    ...(verdict && { verdict: linesOfVerdict(verdict) }),
  }))
}

const missedIn = ({ missed }: Transition): string[] => [
  ...new Set(missed.map(({ file, line, pointer }) => `${file}:${line} ${pointer}`)),
]
