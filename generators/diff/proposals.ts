/** What probably happened where something is gone and something came: proposed with evidence, never assumed. */

import { type DeclaredLocation, formatLocation, type Proposal } from './difference.ts'
import type { Located } from './pairs.ts'
import { type NamedSubject, propertyStep } from './position.ts'

interface NamedDifference extends Located {
  readonly subject: NamedSubject
}

/** @returns a proposal for each removal that something added may explain. */
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

/** Where something is declared, as text: what has the same home may be a rename, as properties of one object are. */
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

/** Renames: the best evidence first, each name once. */
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
    const told = alone && evidence.length < 2 ? [...evidence, 'one is gone and one came'] : evidence
    // The same name in the same home: the query, where it was a header.
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
  } else if (withoutNull(a.shape) === withoutNull(b.shape)) note(1, 'same shape but for null')
  else return { gone, come, score: 0, evidence }
  const [mine, theirs] = [wordsOf(a.name), wordsOf(b.name)]
  const both = mine.filter((word) => theirs.includes(word))
  if (both.length === mine.length && both.length === theirs.length)
    note(3, `the same words: ${both.join(' ')}`)
  else if (both.length > 0) note(isMember ? 2 : 1, `both names say ${both.join(' ')}`)
  else if (distance(a.name, b.name) <= 2 && a.name.length > 3) note(1, 'names differ by a letter or two')
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

/** `bookList`, `book_list` and `Book-List` are the same words. */
function wordsOf(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !/^x$/i.test(word))
    .map((word) => word.toLowerCase())
}

/** Edits between two short names (Levenshtein), enough of them to tell a typing slip from another word. */
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

/** One name's words within those of several that came (a split), or the other way round (a merge). */
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
    const evidence = [`every name says ${wordsOf(one.subject.name).join(' ')}`]
    proposals.set(one, { kind: 'split', from: [one.subject.name], to, evidence, ...placeOf(parts[0]!) })
  }
  for (const other of come) {
    const parts = gone.filter(
      (one) => !proposals.has(one) && one.code.startsWith('property-') && contains(other, one),
    )
    if (parts.length < 2) continue
    const from = parts.map((each) => each.subject.name)
    const evidence = [`every name says ${wordsOf(other.subject.name).join(' ')}`]
    for (const one of parts)
      proposals.set(one, { kind: 'merge', from, to: [other.subject.name], evidence, ...placeOf(other) })
  }
}

/** The same name and shape elsewhere: in another object, or in another place of the same operation. */
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

/** Into an object that came with it, or out of one that is gone with it. */
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

/** Paths that lenses can name: property by property. */
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
