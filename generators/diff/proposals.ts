/**
 * Proposes causes for removals that occur together with additions. Proposals have evidence and are never applied
 * automatically.
 */

import { type DeclaredLocation, formatLocation, type Proposal } from './difference.ts'
import type { Located } from './pairs.ts'
import { type NamedSubject, propertyStep } from './position.ts'

interface NamedDifference extends Located {
  readonly subject: NamedSubject
}

/** Returns a proposal for each removal that an addition may explain. */
export function propose(all: readonly Located[]): ReadonlyMap<Located, Proposal> {
  const named = all.filter((each): each is NamedDifference => each.subject !== undefined)
  const added = groupBy(
    named.filter((each) => each.subject.side === 'new'),
    homeOf,
  )
  const removed = groupBy(
    named.filter((each) => each.subject.side === 'old'),
    homeOf,
  )
  const proposals = new Map<Located, Proposal>()
  for (const [home, gone] of removed) {
    proposeRenames(gone, added.get(home) ?? [], proposals)
    proposeParts(gone, added.get(home) ?? [], proposals)
  }
  const everywhere = [...added.values()].flat()
  for (const each of [...removed.values()].flat())
    if (!proposals.has(each)) proposeMove(each, everywhere, proposals)
  return proposals
}

/**
 * Returns the scope of a difference as text. Differences with the same scope may be renames, such as two properties
 * of one object.
 */
function homeOf({ at, code }: Located): string {
  const kind = code.split('-')[0]
  if (at.kind === 'operation') return kind!
  if (at.kind === 'event')
    return at.path === '' && kind === 'event' ? kind : `${at.event} ${parentOf(at.path)}`
  if (at.kind === 'parameter') return `${at.kind} ${at.operation}`
  if (at.kind === 'event-header') return `${at.kind} ${at.event}`
  if (at.kind === 'response-header') return `${at.kind} ${at.operation} ${at.status}`
  const path = 'path' in at ? (kind === 'enum' ? at.path : parentOf(at.path)) : ''
  return `${kind} ${formatLocation('path' in at ? { ...at, path } : at)}`
}

const parentOf = (path: string): string => path.replace(/(?:\.?[\p{L}\p{N}_$-]+|\["[^"]*"\])$/u, '')

function groupBy(
  list: readonly NamedDifference[],
  key: (each: NamedDifference) => string,
): Map<string, NamedDifference[]> {
  const groups = new Map<string, NamedDifference[]>()
  for (const each of list) {
    const group = groups.get(key(each))
    if (group) group.push(each)
    else groups.set(key(each), [each])
  }
  return groups
}

interface ProposedMatch {
  readonly gone: NamedDifference
  readonly come: NamedDifference
  readonly score: number
  readonly evidence: readonly string[]
}

/** Proposes renames, best evidence first. Each name is used once. */
function proposeRenames(
  gone: readonly NamedDifference[],
  come: readonly NamedDifference[],
  proposals: Map<Located, Proposal>,
): void {
  const matches: ProposedMatch[] = gone.flatMap((one) => come.map((other) => weigh(one, other)))
  const taken = new Set<NamedDifference>()
  for (const { gone: one, come: other, score, evidence } of matches.sort((a, b) => b.score - a.score)) {
    const alone = gone.length === 1 && come.length === 1 && one.subject.shape === other.subject.shape
    if ((score < 2 && !alone) || taken.has(one) || taken.has(other)) continue
    taken.add(one).add(other)
    const told = alone && evidence.length < 2 ? [...evidence, 'one was removed and one was added'] : evidence
    // The name is unchanged, so the parameter moved, for example from a header to the query.
    const moved = one.subject.name === other.subject.name
    proposals.set(one, {
      kind: moved ? 'move' : 'rename',
      from: [moved ? formatLocation(one.at) : one.subject.name],
      to: [moved ? formatLocation(other.at) : other.subject.name],
      evidence: told,
      ...placeOf(other),
    })
  }
}

function weigh(gone: NamedDifference, come: NamedDifference): ProposedMatch {
  const [a, b] = [gone.subject, come.subject]
  const evidence: string[] = []
  let score = 0
  const note = (weight: number, words: string) => {
    score += weight
    evidence.push(words)
  }
  const isMember = gone.code.startsWith('enum-')
  if (a.shape === b.shape) {
    if (!isMember) note(1, 'same shape')
  } else if (withoutNull(a.shape) === withoutNull(b.shape)) note(1, 'same shape except for null')
  else return { gone, come, score: 0, evidence }
  const [mine, theirs] = [wordsOf(a.name), wordsOf(b.name)]
  const both = mine.filter((word) => theirs.includes(word))
  if (both.length === mine.length && both.length === theirs.length)
    note(3, `the same words: ${both.join(' ')}`)
  else if (both.length > 0) note(isMember ? 2 : 1, `both names contain ${both.join(' ')}`)
  else if (distance(a.name, b.name) <= 2 && a.name.length > 3) note(1, 'names differ by one or two letters')
  if (
    a.examples.some((example) =>
      b.examples.some((other) => JSON.stringify(example) === JSON.stringify(other)),
    )
  )
    note(1, 'same examples')
  if (a.description !== undefined && a.description === b.description) note(2, 'same description')
  return { gone, come, score, evidence }
}

const withoutNull = (shape: string): string =>
  shape.replace(/\["nullable",true\],?|\|null$/g, '').replace(',]', ']')

/** Splits a name into words: `bookList`, `book_list` and `Book-List` have the same words. */
function wordsOf(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !/^x$/i.test(word))
    .map((word) => word.toLowerCase())
}

/** Returns the edit distance (Levenshtein), which distinguishes a typing error from a different word. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}

/** Proposes splits (one name's words are in several new names) and merges (the reverse). */
function proposeParts(
  gone: readonly NamedDifference[],
  come: readonly NamedDifference[],
  proposals: Map<Located, Proposal>,
): void {
  const contains = (whole: NamedDifference, part: NamedDifference) => {
    const words = wordsOf(part.subject.name)
    return wordsOf(whole.subject.name).every((word) => words.includes(word))
  }
  for (const one of gone) {
    if (proposals.has(one) || !one.code.startsWith('property-')) continue
    const parts = come.filter((other) => contains(one, other))
    if (parts.length < 2) continue
    const to = parts.map((each) => each.subject.name)
    const evidence = [`every name contains ${wordsOf(one.subject.name).join(' ')}`]
    proposals.set(one, { kind: 'split', from: [one.subject.name], to, evidence, ...placeOf(parts[0]!) })
  }
  for (const other of come) {
    const parts = gone.filter(
      (one) => !proposals.has(one) && one.code.startsWith('property-') && contains(other, one),
    )
    if (parts.length < 2) continue
    const from = parts.map((each) => each.subject.name)
    const evidence = [`every name contains ${wordsOf(other.subject.name).join(' ')}`]
    for (const one of parts)
      proposals.set(one, { kind: 'merge', from, to: [other.subject.name], evidence, ...placeOf(other) })
  }
}

/** Proposes a move: the same name and shape in a different object, or elsewhere in the same operation. */
function proposeMove(
  gone: NamedDifference,
  added: readonly NamedDifference[],
  proposals: Map<Located, Proposal>,
): void {
  if (!/^(property|parameter|header)-/.test(gone.code)) return
  const there = added.filter(
    (other) => other.subject.name === gone.subject.name && other.subject.shape === gone.subject.shape,
  )
  const near = there.find((other) => sameOwner(gone, other)) ?? there.find((other) => sharesUse(gone, other))
  if (!near) return proposeMoveInside(gone, added, proposals)
  const evidence = ['same name', 'same shape']
  const [from, to] = [formatLocation(gone.at), formatLocation(near.at)]
  const moves = sameOwner(gone, near) ? movesOf([gone.at], [near.at]) : {}
  proposals.set(gone, { kind: 'move', from: [from], to: [to], evidence, ...placeOf(near), ...moves })
}

/** Proposes a move into an added object, or out of a removed one. */
function proposeMoveInside(
  gone: NamedDifference,
  added: readonly NamedDifference[],
  proposals: Map<Located, Proposal>,
): void {
  const own = added.filter((other) => sameOwner(gone, other))
  const alike = (one: NamedSubject, other: NamedSubject) =>
    one.name === other.name && one.shape === other.shape
  const evidence = ['same name', 'same shape']
  const into = own.find((other) => other.subject.parts?.().some((part) => alike(part, gone.subject)))
  if (into) {
    const at = inside(into.at, gone.subject.name)
    const [from, to] = [formatLocation(gone.at), formatLocation(at)]
    proposals.set(gone, {
      ...placeOf(into),
      kind: 'move',
      from: [from],
      to: [to],
      evidence,
      at,
      ...movesOf([gone.at], [at]),
    })
    return
  }
  const parts = gone.subject.parts?.() ?? []
  const targets = parts.flatMap((part) => own.find((other) => alike(part, other.subject)) ?? [])
  const [first] = targets
  if (!first || targets.length < parts.length) return
  const from = parts.map((part) => inside(gone.at, part.name))
  const to = targets.map(({ at }) => at)
  proposals.set(gone, {
    kind: 'move',
    from: from.map(formatLocation),
    to: to.map(formatLocation),
    evidence,
    ...placeOf(first),
    ...movesOf(from, to),
  })
}

const inside = (at: DeclaredLocation, name: string): DeclaredLocation =>
  'path' in at
    ? {
        ...at,
        path: `${at.path}${at.path === '' ? propertyStep(name).replace(/^\./, '') : propertyStep(name)}`,
      }
    : at

/** Returns the moves as property paths that lenses can name. */
function movesOf(
  from: readonly DeclaredLocation[],
  to: readonly DeclaredLocation[],
): Pick<Proposal, 'moves'> {
  const pathOf = (at: DeclaredLocation) =>
    'path' in at && /^[^[\]{}|]+$/.test(at.path) ? at.path.split('.') : undefined
  const moves = from.flatMap((at, index) => {
    const [one, other] = [pathOf(at), pathOf(to[index]!)]
    return one && other ? [{ from: one, to: other }] : []
  })
  return moves.length === from.length ? { moves } : {}
}

const placeOf = (come: NamedDifference) => ({ ...(come.new && { place: come.new }), at: come.at })

const sameOwner = (one: Located, other: Located): boolean =>
  one.at.kind === 'schema' && other.at.kind === 'schema' && one.at.component === other.at.component

const sharesUse = (one: Located, other: Located): boolean => one.uses.some((use) => other.uses.includes(use))
