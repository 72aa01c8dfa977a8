/** The change that a difference asks for: the file to write, and a first draft of it. */
import { propertyKey, stringLiteral } from '../print/literal.ts'
import { type Difference, formatLocation } from './difference.ts'
import { snakeCase } from './naming.ts'

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

/** @returns one proposal for each lens that the differences ask for, in their order. */
export function proposeChanges(differences: readonly Difference[]): ProposedChange[] {
  const drafts = new Map<string, { readonly draft: Draft; readonly differences: Difference[] }>()
  const arrivals = arrivalsOf(differences)
  for (const difference of differences) {
    const draft = arrivals.get(formatLocation(difference.at)) ?? draftFor(difference)
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
    for (const to of proposal.to) arrivals.set(formatLocation({ ...at, path: to }), draftFor(difference))
  }
  return arrivals
}

const quote = stringLiteral
const list = (names: Iterable<string>): string => `[${[...new Set(names)].map(quote).join(', ')}]`
const componentsOf = (all: readonly Difference[]): string =>
  list(all.flatMap(({ at }) => (at.kind === 'schema' ? [at.component] : [])))

function draftFor(difference: Difference): Draft {
  const { at } = difference
  if (at.kind === 'schema' && /^enum-value-/.test(difference.code)) return valuesDraft(at.component, at.path)
  if (at.kind === 'schema' && /^[^[\]{}|.]+$/.test(at.path))
    return propertyDraft(difference, at.component, at.path)
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
    return {
      verb: 'rename',
      noun: property,
      key: `rename ${property} ${to}`,
      print: (all) => `v.rename(${componentsOf(all)}, ${quote(property)}, ${quote(to)})`,
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
      key: `drop ${property}`,
      print: (all) => `v.drop(${componentsOf(all)}, ${quote(property)}, { loss: 'drop' })`,
    }
  if (code === 'property-added-required' || code === 'property-required')
    return {
      verb: 'require',
      noun: property,
      key: `default ${component} ${property}`,
      print: (all) => `v.default(${componentsOf(all)}, ${quote(property)}, …)`,
    }
  if (/^(property|access|default|object|map)-/.test(code)) return acceptDraft(difference)
  return {
    verb: 'convert',
    noun: property,
    key: `convert ${property}`,
    print: (all) =>
      `v.convert(${componentsOf(all)}, ${quote(property)}, { up: (value) => …, down: (value) => … })`,
  }
}

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
  if (at.in !== 'query' || /^parameter-(added-required|required)$/.test(difference.code))
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
  return {
    verb: 'rename',
    noun: name,
    key: `renamed-header ${name} ${to}`,
    print: () => `v.renamedHeader(${quote(name)}, ${quote(to)})`,
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
