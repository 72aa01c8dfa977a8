/** The change that a difference asks for: the file to write, and a first draft of it. */
import { propertyKey, stringLiteral } from '../print/literal.ts'
import { type Difference, formatLocation } from './difference.ts'
import type { Api } from './model.ts'
import { snakeCase } from './naming.ts'
import { type Lists, listsIn } from './proposed-lists.ts'

/** A change that nobody has written yet. */
export interface ProposedChange {
  /** Verb and noun: the name of the file. */
  readonly id: string
  /** One lens as source text. */
  readonly lens: string
  readonly differences: readonly Difference[]
}

/** A lens in the making: several differences may want the same one. */
interface Draft {
  readonly verb: string
  readonly noun: string
  /** Drafts of one key become one lens. */
  readonly key: string
  print(all: readonly Difference[]): string
}

/** What lenses can name: the types of both versions have it. */
export interface Nameable {
  readonly schemas: ReadonlySet<string>
  readonly operations: ReadonlySet<string>
}

/** @returns what both documents have. */
export function nameableIn(old: Api, next: Api): Nameable {
  const ids = new Set(old.operations.map(({ id }) => id))
  return {
    schemas: new Set([...next.schemas.keys()].filter((name) => old.schemas.has(name))),
    operations: new Set(next.operations.map(({ id }) => id).filter((id) => ids.has(id))),
  }
}

/** @returns one proposal for each lens that the differences ask for, in their order. */
export function proposeChanges(differences: readonly Difference[], nameable?: Nameable): ProposedChange[] {
  const drafts = new Map<string, { readonly draft: Draft; readonly differences: Difference[] }>()
  const arrivals = arrivalsOf(differences)
  const lists = listsIn(differences)
  for (const difference of differences) {
    const draft =
      arrivals.get(formatLocation(difference.at)) ??
      (isNameable(difference.at, nameable) ? draftFor(difference, lists) : acceptDraft(difference))
    const known = drafts.get(draft.key)
    if (known) known.differences.push(difference)
    else drafts.set(draft.key, { draft, differences: [difference] })
  }
  const taken = new Set<string>()
  return [...drafts.values()].map(({ draft, differences: all }) => {
    const name = snakeCase(`${draft.verb} ${draft.noun}`).replaceAll('_', '-')
    let id = name
    for (let number = 2; taken.has(id); number++) id = `${name}-${number}`
    taken.add(id)
    return { id, lens: draft.print(all), differences: all }
  })
}

/** What came in the place of something that is gone belongs to the change of that. */
function arrivalsOf(differences: readonly Difference[]): Map<string, Draft> {
  const arrivals = new Map<string, Draft>()
  for (const difference of differences) {
    const { at, proposal, code } = difference
    if (at.kind !== 'schema' || code !== 'property-removed' || !proposal || proposal.kind === 'move') continue
    for (const to of proposal.to)
      arrivals.set(formatLocation({ ...at, path: to }), draftFor(difference, new Map()))
  }
  return arrivals
}

const quote = stringLiteral
const list = (names: Iterable<string>): string => `[${[...new Set(names)].map(quote).join(', ')}]`
const componentsOf = (all: readonly Difference[]): string =>
  list(all.flatMap(({ at }) => (at.kind === 'schema' ? [at.component] : [])))

function isNameable(at: Difference['at'], nameable: Nameable | undefined): boolean {
  if (at.kind === 'schema') return nameable?.schemas.has(at.component) ?? true
  return at.kind !== 'parameter' || (nameable?.operations.has(at.operation) ?? true)
}

const SIMPLE = /^[^[\]{}|.]+$/

function draftFor(difference: Difference, lists: Lists): Draft {
  const { at } = difference
  const list = lists.get(formatLocation(at))
  const isProperty = at.kind === 'schema' && SIMPLE.test(at.path)
  // Lenses name texts; a member that nothing came in the place of has no other name.
  if (at.kind === 'schema' && list?.named && list.come.size >= list.gone && (at.path === '' || isProperty))
    return valuesDraft(at.component, at.path)
  if (at.kind === 'schema' && isProperty) return propertyDraft(difference, at.component, at.path)
  if (at.kind === 'parameter') return parameterDraft(difference, at)
  if (at.kind === 'event-header') return headerDraft(difference, at.name)
  return acceptDraft(difference)
}

function valuesDraft(component: string, path: string): Draft {
  const call =
    path === '' ? `v.values(${quote(component)}, ` : `v.valuesOf([${quote(component)}], ${quote(path)}, `
  return {
    verb: 'rename',
    noun: `${component} ${path.split('.').at(-1) ?? ''} values`,
    key: `values ${component} ${path}`,
    print(all) {
      const renames = all
        .filter((each) => each.code === 'enum-value-removed')
        .map(({ value, proposal }) => `${propertyKey(String(value))}: ${quote(proposal?.to[0] ?? '…')}`)
      const named = all.flatMap(({ proposal }) => proposal?.to ?? [])
      const merges = all
        .filter((each) => each.code === 'enum-value-added' && !named.includes(String(each.value)))
        .map(({ value }) => `${propertyKey(String(value))}: '…'`)
      const parts = [
        ...(renames.length > 0 ? [`rename: { ${renames.join(', ')} }`] : []),
        ...(merges.length > 0 ? [`merge: { ${merges.join(', ')} }, loss: 'merge'`] : []),
      ]
      return `${call}{ ${parts.join(', ')} })`
    },
  }
}

function propertyDraft(difference: Difference, component: string, property: string): Draft {
  const { code, proposal } = difference
  if (code === 'property-removed' && proposal?.kind === 'rename') {
    const to = proposal.to[0]!
    const sameType = !proposal.evidence.some((each) => each.startsWith('same shape but'))
    return {
      verb: 'rename',
      noun: property,
      key: `rename ${property} ${to}`,
      print: (all) =>
        `v.rename(${componentsOf(all)}, ${quote(property)}, ${quote(to)}${sameType ? '' : `, { ${TURNS} }`})`,
    }
  }
  if (code === 'property-removed' && (proposal?.kind === 'split' || proposal?.kind === 'merge')) {
    const { from, to } = proposal
    const turns = 'up: (old) => ({ … }), down: (next) => ({ … })'
    return {
      verb: proposal.kind,
      noun: from.join(' '),
      key: `replace ${from} ${to}`,
      print: (all) => `v.replace(${componentsOf(all)}, { old: ${list(from)}, new: ${list(to)}, ${turns} })`,
    }
  }
  if (code === 'property-removed')
    return {
      verb: 'drop',
      noun: property,
      key: `drop ${property}${proposal ? ` ${component}` : ''}`,
      // What stands elsewhere now is shown where it was; there is no such way up.
      print: (all) =>
        `v.drop(${componentsOf(all)}, ${quote(property)}, { loss: 'drop'${proposal ? ', down: (object) => …' : ''} })`,
    }
  if (code === 'property-added-required' || code === 'property-required')
    return {
      verb: 'require',
      noun: property,
      key: `default ${component} ${property}`,
      print: (all) => `v.default(${componentsOf(all)}, ${quote(property)}, …)`,
    }
  if (code === 'property-optional' || code === 'null-added')
    return {
      verb: 'fill',
      noun: property,
      key: `${code} ${component} ${property}`,
      print: (all) =>
        `v.${code === 'null-added' ? 'nullable' : 'optional'}(${componentsOf(all)}, ${quote(property)}, …)`,
    }
  if (/^(property|access|default|object|map|null|items|keyword)-/.test(code)) return acceptDraft(difference)
  return {
    verb: 'convert',
    noun: property,
    key: `convert ${property}`,
    print: (all) => `v.convert(${componentsOf(all)}, ${quote(property)}, { ${TURNS} })`,
  }
}

const TURNS = 'up: (value) => …, down: (value) => …'

type ParameterPlace = Extract<Difference['at'], { kind: 'parameter' }>

function parameterDraft(difference: Difference, at: ParameterPlace): Draft {
  const { operation, name } = at
  const isHeader = at.in === 'header'
  if (isHeader && /^parameter-(added-)?required$/.test(difference.code))
    return {
      verb: 'require',
      noun: name,
      key: `required-header ${name}`,
      print: () => `v.requiredHeader(${quote(name)})`,
    }
  if (
    at.in !== 'query' ||
    /^(parameter-(added-required|required)|default|serialization|null)/.test(difference.code)
  )
    return acceptDraft(difference)
  if (difference.code === 'parameter-removed')
    return {
      verb: 'ignore',
      noun: `${operation} ${name}`,
      key: `ignored-query ${operation} ${name}`,
      print: () => `v.ignoredQuery(${quote(operation)}, ${quote(name)})`,
    }
  return {
    verb: 'translate',
    noun: `${operation} ${name}`,
    key: `filter ${operation} ${name}`,
    print: () => `v.filter(${quote(operation)}, ${quote(name)}, (value) => […])`,
  }
}

function headerDraft(difference: Difference, name: string): Draft {
  const to = difference.proposal?.to[0]
  if (difference.code !== 'header-removed' || to === undefined) return acceptDraft(difference)
  // Types know the headers of those events that have an id.
  return {
    verb: 'rename',
    noun: name,
    key: `renamed-header ${name} ${to}`,
    print: () => `{ kind: 'renamed-header', from: ${quote(name)}, to: ${quote(to)} }`,
  }
}

/** No lens translates it: whoever publishes the version says that it is meant. */
function acceptDraft(difference: Difference): Draft {
  const { code } = difference
  return {
    verb: 'accept',
    noun: code,
    key: `accept ${code}`,
    print: (all) =>
      `v.accept(${[code, ...new Set(all.map((each) => formatLocation(each.at)))].map(quote).join(', ')})`,
  }
}
