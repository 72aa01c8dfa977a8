/** Proposes the change that a difference needs: the file name and a draft of its content. */

import type { Naming } from '../change/align.ts'
import { placeIn } from '../change/inline.ts'
import { type Difference, formatLocation, type Proposal } from '../diff/difference.ts'
import { snakeCase } from '../ir/naming.ts'
import { propertyKey } from '../print/literal.ts'
import { isSite, type SiteLocation, stepsOf } from '../translate/inline-place.ts'
import { acceptDraft, hole, type LensDraft, meaningOf, type Nameable, quote } from './draft.ts'
import { listsIn, type ProposedLists } from './proposed-lists.ts'
import { headerDraft, isRenamedHere, parameterDraft, routeDraft, statusesIn } from './proposed-requests.ts'

/** A change to be written. */
export interface ProposedChange {
  /** Verb and noun; the file name. */
  readonly id: string
  /** The lens as source text. */
  readonly lens: string
  /** What the changelog says, as source text: what differs, or, if callers break, a hole. */
  readonly why: string
  readonly differences: readonly Difference[]
  /** The lens as data, if it only renames. */
  readonly naming?: Naming
}

/**
 * Returns one proposal for each lens that the differences need, in their order.
 *
 * @param others ids of changes that exist.
 */
export function proposeChanges(
  differences: readonly Difference[],
  nameable?: Nameable,
  others: readonly string[] = [],
): ProposedChange[] {
  const drafts = new Map<string, { readonly draft: LensDraft; readonly differences: Difference[] }>()
  const arrivals = new Map([...arrivalsOf(differences), ...statusesIn(differences)])
  const lists = listsIn(differences)
  for (const difference of differences) {
    const draft =
      (isArrival(difference) ? arrivals.get(formatLocation(difference.at)) : undefined) ??
      (isNameable(difference, nameable) ? draftFor(difference, lists, nameable) : acceptDraft(difference))
    const known = drafts.get(draft.key)
    if (known) known.differences.push(difference)
    else drafts.set(draft.key, { draft, differences: [difference] })
  }
  const taken = new Set(others)
  return [...drafts.values()].map(({ draft, differences: all }) => {
    const id = idOf(draft, all[0]!, taken)
    taken.add(id)
    const naming = draft.naming?.(all)
    const why = draft.verb === 'accept' ? hole('why callers may break') : quote(summaryOf(all))
    return { id, lens: draft.print(all), why, differences: all, ...(naming && { naming }) }
  })
}

/** Number of differences to list; the rest is only counted. */
const NAMED = 3

/** Returns what differs, in one line. */
export function summaryOf(differences: readonly Difference[]): string {
  const named = [...new Set(differences.map((each) => `${formatLocation(each.at)}: ${each.message}`))]
  const rest = named.length > NAMED ? `; and ${named.length - NAMED} more` : ''
  return named.slice(0, NAMED).join('; ') + rest
}

/** Returns the verb and the noun of a draft; if they are taken, also the object that has the property, or a number. */
function idOf({ verb, noun }: LensDraft, { at }: Difference, taken: ReadonlySet<string>): string {
  const named = (words: string) => snakeCase(words).replaceAll('_', '-')
  const site = siteOf(at)
  const names = [named(`${verb} ${noun}`), ...(site ? [named(`${verb} ${site.place} ${noun}`)] : [])]
  const last = names.at(-1)!
  for (let number = 2; taken.has(names.at(-1)!); number++) names.push(`${last}-${number}`)
  return names.find((name) => !taken.has(name))!
}

/** Returns whether a difference is an addition, which may belong to the change for a removal. */
const isArrival = ({ code }: Difference): boolean => /-added(-required)?$|^status-/.test(code)

/** Returns drafts for additions that replace something removed; they belong to the change for the removal. */
function arrivalsOf(differences: readonly Difference[]): Map<string, LensDraft> {
  const arrivals = new Map<string, LensDraft>()
  for (const difference of differences) {
    const { at, proposal, code } = difference
    if (!proposal) continue
    if (at.kind === 'parameter' && code === 'parameter-removed' && isRenamedHere(difference))
      arrivals.set(formatLocation(proposal.at!), parameterDraft(difference, at))
    if (at.kind !== 'schema' || code !== 'property-removed') continue
    const paths =
      proposal.kind === 'move' ? (proposal.moves ?? []).flatMap(({ to }) => prefixesOf(to)) : proposal.to
    for (const path of paths) arrivals.set(formatLocation({ ...at, path }), draftFor(difference, new Map()))
  }
  return arrivals
}

const prefixesOf = (path: readonly string[]): string[] =>
  path.map((_, index) => path.slice(0, index + 1).join('.'))

const list = (names: Iterable<string>): string => `[${[...new Set(names)].map(quote).join(', ')}]`
const sitesOf = (all: readonly Difference[]): string =>
  `[${[...new Set(all.flatMap(({ at }) => siteOf(at)?.code ?? []))].join(', ')}]`

function isNameable({ at, code }: Difference, nameable: Nameable | undefined): boolean {
  const site = siteOf(at)
  if (site && !site.isComponent && nameable?.isSite(site.place) !== true) return false
  if (at.kind === 'schema') return nameable?.schemas.has(at.component) ?? true
  if (at.kind === 'event') return true
  // The lens on a required header applies to all operations.
  if (at.kind === 'parameter' && at.in === 'header' && /^parameter-(added-)?required$/.test(code)) return true
  return 'operation' in at ? (nameable?.operations.has(at.operation) ?? true) : true
}

/** A property that a lens can target. */
interface LensSite {
  readonly property: string
  /** The object that has the property: as source text of a change, and as a location. */
  readonly code: string
  readonly place: string
  readonly isComponent: boolean
}

/** Returns undefined if the difference is not at a property, or no lens can reach it. */
function siteOf(at: Difference['at']): LensSite | undefined {
  const steps = isSite(at) ? stepsOf(at.path) : undefined
  const property = steps?.at(-1)
  if (!isSite(at) || !steps || property === undefined || /^(\[\]|\{\}|\|\d+)$/.test(property))
    return undefined
  const path = steps.slice(0, -1)
  const isComponent = at.kind === 'schema' && path.length === 0
  const place: string = placeIn(formatLocation({ ...at, path: '' }), path)
  return { property, code: isComponent ? quote(at.component) : codeOf(at, path), place, isComponent }
}

function codeOf(at: SiteLocation, path: readonly string[]): string {
  const call = (name: string, ...given: readonly string[]) =>
    `v.${name}(${[...given, ...path.map(quote)].join(', ')})`
  switch (at.kind) {
    case 'schema':
      return call('inside', quote(at.component))
    case 'body':
      return call('body', quote(at.operation))
    case 'response':
      return call('answer', quote(at.operation), /^\d+$/.test(at.status) ? at.status : quote(at.status))
    case 'event':
      return call('payload', quote(at.event))
  }
}

function draftFor(difference: Difference, lists: ProposedLists, nameable?: Nameable): LensDraft {
  const { at } = difference
  const route = routeDraft(difference)
  if (route) return route
  if (at.kind === 'schema' && difference.proposal?.moves) return movedDraft(difference.proposal.moves)
  if (at.kind === 'schema' && at.path === '' && /^null-/.test(difference.code))
    return wholeDraft(difference.code, at.component)
  const list = lists.get(formatLocation(at))
  const site = siteOf(at)
  // Value lenses name strings, and a removed member without a replacement has no new name.
  if (list?.named && list.come.size >= list.gone && (site || (at.kind === 'schema' && at.path === '')))
    return valuesDraft(at, site, list)
  if (site) return propertyDraft(difference, site, nameable)
  if (at.kind === 'parameter') return parameterDraft(difference, at, nameable)
  if (at.kind === 'event-header') return headerDraft(difference, at.name)
  return acceptDraft(difference)
}

function valuesDraft(
  at: Difference['at'],
  site: LensSite | undefined,
  { gone }: { readonly gone: number },
): LensDraft {
  const component = at.kind === 'schema' ? at.component : ''
  const call = site
    ? `v.valuesOf([${site.code}], ${quote(site.property)}, `
    : `v.values(${quote(component)}, `
  return {
    verb: gone > 0 ? 'rename' : 'merge',
    noun: `${site && !site.isComponent ? site.place : component} ${site?.property ?? ''} values`,
    key: `values ${formatLocation(at)}`,
    print(all) {
      const renames = all
        .filter((each) => each.code === 'enum-value-removed')
        .map(
          ({ value, proposal }) =>
            `${propertyKey(String(value))}: ${proposal?.to[0] === undefined ? hole(`which member replaces ${value}`) : quote(proposal.to[0])}`,
        )
      const named = all.flatMap(({ proposal }) => proposal?.to ?? [])
      const merges = all
        .filter((each) => each.code === 'enum-value-added' && !named.includes(String(each.value)))
        .map(
          ({ value }) =>
            `${propertyKey(String(value))}: ${hole(`what the old version shows instead of ${value}`)}`,
        )
      const parts = [
        ...(renames.length > 0 ? [`rename: { ${renames.join(', ')} }`] : []),
        ...(merges.length > 0 ? [`merge: { ${merges.join(', ')} }, loss: 'merge'`] : []),
      ]
      return `${call}{ ${parts.join(', ')} })`
    },
  }
}

function movedDraft(moves: NonNullable<Proposal['moves']>): LensDraft {
  const names = moves.map(({ from }) => from.at(-1)!)
  return {
    verb: 'move',
    noun: names.join(' '),
    key: `moved ${JSON.stringify(moves)}`,
    print: (all) => {
      const components = list(all.flatMap(({ at }) => (at.kind === 'schema' ? [at.component] : [])))
      return moves.map(({ from, to }) => `v.moved(${components}, ${list(from)}, ${list(to)})`).join(', ')
    },
  }
}

/** A draft for null in place of a whole component. */
function wholeDraft(code: Difference['code'], component: string): LensDraft {
  return {
    verb: 'fill',
    noun: component,
    key: `${code} ${component}`,
    print: () =>
      code === 'null-added'
        ? `v.nullableWhole(${quote(component)}, ${hole(SHOWN)})`
        : `v.nonNullWhole(${quote(component)}, ${hole(READ)})`,
  }
}

function propertyDraft(
  difference: Difference,
  { property, place }: LensSite,
  nameable?: Nameable,
): LensDraft {
  const { code, proposal } = difference
  if (code === 'property-removed' && nameable?.isInMember(place, property)) return acceptDraft(difference)
  if (code === 'property-removed' && proposal?.kind === 'rename') {
    const to = proposal.to[0]!
    const sameType = !proposal.evidence.some((each) => each.startsWith('same shape except'))
    return {
      verb: 'rename',
      noun: property,
      key: `rename ${property} ${to}`,
      print: (all) =>
        `v.rename(${sitesOf(all)}, ${quote(property)}, ${quote(to)}${sameType ? '' : `, { ${TURNS} }`})`,
    }
  }
  if (code === 'property-removed' && (proposal?.kind === 'split' || proposal?.kind === 'merge')) {
    const { from, to } = proposal
    const turns = `up: ${hole(`how ${to.join(', ')} follow from ${from.join(', ')}`)}, down: ${hole(`how ${from.join(', ')} follow from ${to.join(', ')}`)}`
    return {
      verb: proposal.kind,
      noun: from.join(' '),
      key: `replace ${from} ${to}`,
      print: (all) => `v.replace(${sitesOf(all)}, { old: ${list(from)}, new: ${list(to)}, ${turns} })`,
    }
  }
  if (code === 'property-removed')
    return {
      verb: 'drop',
      noun: property,
      // Objects whose old responses must have the property need a function, which others do not.
      key: `drop ${property}${proposal ? ` ${place}` : ''}${isMissed(difference) ? ' missed' : ''}`,
      // If the value moved, `down` must restore it.
      print: (all) =>
        `v.drop(${sitesOf(all)}, ${quote(property)}, { loss: 'drop'${proposal || isMissed(difference) ? `, down: ${hole(`how ${property} follows from the new object`)}` : ''} })`,
    }
  if (/^property-(added-)?required$|^default-(removed|changed)$/.test(code))
    return {
      verb: 'require',
      noun: property,
      key: `default ${place} ${property}`,
      print: (all) =>
        `v.default(${sitesOf(all)}, ${quote(property)}, ${meaningOf(all.find(isDefault) ?? difference, nameable)})`,
    }
  if (FILLS.has(code))
    return {
      verb: 'fill',
      noun: property,
      key: `fill ${place} ${property}`,
      print: (all) =>
        [...new Set(all.map((each) => FILLS.get(each.code)!))]
          .map(([name, what]) => `v.${name}(${sitesOf(all)}, ${quote(property)}, ${hole(what)})`)
          .join(', '),
    }
  if (/^(property|access|default|object|map|null|items|keyword|encoding)-/.test(code))
    return acceptDraft(difference)
  return {
    verb: 'convert',
    noun: property,
    key: `convert ${property}`,
    print: (all) => `v.convert(${sitesOf(all)}, ${quote(property)}, { ${TURNS} })`,
  }
}

/** Returns whether old responses would lack a property that their version requires. */
const isMissed = ({ required, directions }: Difference): boolean =>
  required === true && directions.includes('response')

const isDefault = ({ code }: Difference): boolean => code.startsWith('default-')
const SHOWN = 'what the old version shows instead of null'
const READ = 'what the new version reads instead of null'
/** Lenses that fill in a value, and what the author must decide, by code. */
const FILLS: ReadonlyMap<string, readonly [string, string]> = new Map([
  ['property-optional', ['optional', 'what the old version shows if the value is absent']],
  ['null-added', ['nullable', SHOWN]],
  ['null-removed', ['nonNull', READ]],
])

const TURNS = `up: ${hole('how an old value becomes a new one')}, down: ${hole('how a new value becomes an old one')}`
