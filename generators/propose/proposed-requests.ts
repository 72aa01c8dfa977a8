/** Drafts for differences outside schemas: operations, parameters, statuses, event headers. */

import { type Difference, formatLocation } from '../diff/difference.ts'
import { groupBy } from '../ir/group-by.ts'
import { acceptDraft, hole, type LensDraft, meaningOf, type Nameable, quote } from './draft.ts'

/** Returns a draft for an operation that was renamed. */
export function routeDraft(difference: Difference): LensDraft | undefined {
  const { at, code, proposal } = difference
  if (at.kind !== 'operation' || code !== 'operation-removed' || proposal?.kind !== 'rename') return undefined
  const by = proposal.to[0]!
  return {
    verb: 'serve',
    noun: by,
    key: `served ${at.operation}`,
    print: () => `v.served(${quote(at.operation)}, ${quote(by)})`,
    naming: () => ({ kind: 'served', from: at.operation, by }),
  }
}

type ParameterPlace = Extract<Difference['at'], { kind: 'parameter' }>

/** Returns whether the parameter was renamed within the same part of the request. */
export const isRenamedHere = ({ at, proposal }: Difference): boolean =>
  at.kind === 'parameter' &&
  proposal?.kind === 'rename' &&
  proposal.at?.kind === 'parameter' &&
  proposal.at.in === at.in

export function parameterDraft(difference: Difference, at: ParameterPlace, nameable?: Nameable): LensDraft {
  const { code } = difference
  const { name } = at
  const where = at.in
  // Handlers do not receive cookies.
  if (where === 'cookie' || /^(serialization|filter)-/.test(code)) return acceptDraft(difference)
  const draft = (verb: string, lens: string, ...given: readonly string[]): LensDraft => ({
    verb,
    noun: name,
    key: `${lens} ${where} ${name} ${given}`,
    print: (all) =>
      `v.${lens}(${[quote(where), quote(name), ...given, ...operationsOf(all).map(quote)].join(', ')})`,
  })
  if (code === 'parameter-removed') {
    const to = isRenamedHere(difference) ? difference.proposal?.to[0] : undefined
    if (to !== undefined)
      return {
        ...draft('rename', 'renamedParameter', quote(to)),
        naming: (all) => ({
          kind: 'renamed-parameter',
          operations: operationsOf(all),
          in: where,
          from: name,
          to,
        }),
      }
    return draft('ignore', 'ignoredParameter')
  }
  if (where === 'header' && /^parameter-(added-)?required$/.test(code))
    return {
      verb: 'require',
      noun: name,
      key: `required-header ${name}`,
      print: () => `v.requiredHeader(${quote(name)})`,
    }
  if (/^parameter-|^default-/.test(code) && at.path === '')
    return draft('require', 'defaultParameter', meaningOf(difference, nameable))
  if (nameable?.filters.has(`${at.operation} ${name}`) && where === 'query')
    return {
      verb: 'translate',
      noun: `${at.operation} ${name}`,
      key: `filter ${at.operation} ${name}`,
      print: () =>
        `v.filter(${quote(at.operation)}, ${quote(name)}, ${hole('which new values match an old one')})`,
    }
  if (where === 'header') return acceptDraft(difference)
  return draft('convert', 'convertedParameter', hole('how an old value becomes a new one'))
}

const operationsOf = (all: readonly Difference[]): string[] => [
  ...new Set(all.flatMap(({ at }) => ('operation' in at ? [at.operation] : []))),
]

export function headerDraft(difference: Difference, name: string): LensDraft {
  const to = difference.proposal?.to[0]
  if (difference.code !== 'header-removed' || to === undefined) return acceptDraft(difference)
  // The generated types include only the headers of events that have an id.
  return {
    verb: 'rename',
    noun: name,
    key: `renamed-header ${name} ${to}`,
    print: () => `{ kind: 'renamed-header', from: ${quote(name)}, to: ${quote(to)} }`,
  }
}

/** Returns a draft for an operation whose only success has a new status. */
function statusDraft(from: string, to: string): LensDraft {
  return {
    verb: 'keep',
    noun: `status ${from}`,
    key: `status ${from} ${to}`,
    print: (all) => `v.status(${[from, to, ...operationsOf(all).map(quote)].join(', ')})`,
    naming: (all) => ({ kind: 'status', operations: operationsOf(all), from, to }),
  }
}

/** Returns drafts for pairs of differences: one removed and one added status of the same operation. */
export function statusesIn(differences: readonly Difference[]): Map<string, LensDraft> {
  const drafts = new Map<string, LensDraft>()
  const byOperation = groupBy(
    differences.filter(({ code }) => code === 'status-removed' || code === 'status-added'),
    ({ at }) => ('operation' in at ? at.operation : ''),
  )
  for (const all of byOperation.values()) {
    const of = (code: Difference['code']) =>
      all.flatMap(({ at, code: each }) => (each === code && at.kind === 'response' ? [at.status] : []))
    const [gone, come] = [of('status-removed'), of('status-added')]
    if (
      gone.length !== 1 ||
      come.length !== 1 ||
      !/^\d{3}$/.test(`${gone[0]}`) ||
      !/^\d{3}$/.test(`${come[0]}`)
    )
      continue
    for (const { at } of all) drafts.set(formatLocation(at), statusDraft(gone[0]!, come[0]!))
  }
  return drafts
}
