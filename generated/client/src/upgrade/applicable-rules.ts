// @ts-nocheck
/** Finds the rules of a step that apply to what a program uses. */
import type { ts } from 'ts-morph'
import type { FileContext } from './file-context.ts'
import type { CalledOperation } from './operations.ts'
import type { OperationRule, SiteRule } from './rules.ts'
import { aliased } from './symbols.ts'

/** A new name, with the change that gives it. */
export interface Renaming {
  readonly to: string
  readonly change?: string | undefined
}

/** Returns what a record of the step holds for a name of the program, which may be `constructor`. */
export const entryOf = <Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

export const rulesOf = ({ step }: FileContext, sites: readonly string[]): readonly SiteRule[] => [
  ...new Set(sites.flatMap((site) => entryOf(step.sites, site) ?? [])),
]

/** Returns the rules of what objects with these sites hold. */
export const rulesBelow = ({ step }: FileContext, roots: readonly string[]): readonly SiteRule[] =>
  Object.entries(step.sites).flatMap(([site, rules]) =>
    roots.some((root) => site.startsWith(`${root}.`)) ? rules : [],
  )

/** Returns whether a rule is about an object with these sites, or about one of its properties. */
export const isAffected = (context: FileContext, roots: readonly string[]): boolean =>
  rulesOf(context, roots).length > 0 || rulesBelow(context, roots).length > 0

/** Returns the rules of a property, and of the type of its values, except for enumerations. */
export function propertyRules(
  context: FileContext,
  property: ts.Symbol,
  owner: ts.Type,
): readonly SiteRule[] {
  const { sites } = context
  const inherited = sites.ofType(owner).map((root) => `${root}.${property.name}`)
  const own = rulesOf(context, [...sites.ofProperty(property), ...inherited])
  const ofValues = rulesOf(context, sites.ofValues(property)).filter(
    ({ kind }) => kind === 'look' || kind === 'fallback' || kind === 'never-null',
  )
  return [...new Set([...own, ...ofValues])]
}

/** Returns the rules of the operation that a name of the program calls; none for other names. */
export function operationRules(
  context: FileContext,
  symbol: ts.Symbol | undefined,
): readonly OperationRule[] {
  const id = calledOperation(context, symbol)?.id
  return id === undefined ? [] : (entryOf(context.step.operations, id) ?? [])
}

/** Returns the operation that a name of the program calls; undefined for other names. */
export function calledOperation(
  context: FileContext,
  symbol: ts.Symbol | undefined,
): CalledOperation | undefined {
  const own = aliased(context, symbol)
  return own && context.operations.calledBy(own)
}

/** Returns how the newer version calls an operation, with the change that renames it. */
export function laterCall(context: FileContext, { id }: CalledOperation) {
  const renamed = renamingIn(entryOf(context.step.operations, id) ?? [])
  const row = context.laterRow(renamed?.to ?? id)
  return row && { row, change: renamed?.change }
}

export const renamingIn = (rules: readonly OperationRule[]): Renaming | undefined =>
  rules.find((rule) => rule.kind === 'rename')
