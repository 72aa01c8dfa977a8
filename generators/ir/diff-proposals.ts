/** What probably happened where something is gone and something came: proposed with evidence, never assumed. */
import type { Located } from './diff-pairs.ts'
import type { Subject } from './diff-sheet.ts'
import { formatLocation, type Proposal } from './difference.ts'

interface Named extends Located {
  readonly subject: Subject
}

/** @returns a proposal for each removal that something added may explain. */
export function propose(all: readonly Located[]): ReadonlyMap<Located, Proposal> {
  const named = all.filter((each): each is Named => each.subject !== undefined)
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

/** What stands in one home may stand for each other: properties of one object, parameters of one operation. */
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

function groupBy(list: readonly Named[], key: (each: Named) => string): Map<string, Named[]> {
  const groups = new Map<string, Named[]>()
  for (const each of list) {
    const group = groups.get(key(each))
    if (group) group.push(each)
    else groups.set(key(each), [each])
  }
  return groups
}

interface Match {
  readonly gone: Named
  readonly come: Named
  readonly score: number
  readonly evidence: readonly string[]
}

/** Renames: the best evidence first, each name once. */
function proposeRenames(
  gone: readonly Named[],
  come: readonly Named[],
  proposals: Map<Located, Proposal>,
): void {
  const matches: Match[] = gone.flatMap((one) => come.map((other) => weigh(one, other)))
  const taken = new Set<Named>()
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

function weigh(gone: Named, come: Named): Match {
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
  gone: readonly Named[],
  come: readonly Named[],
  proposals: Map<Located, Proposal>,
): void {
  const contains = (whole: Named, part: Named) => {
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
function proposeMove(gone: Named, added: readonly Named[], proposals: Map<Located, Proposal>): void {
  if (!/^(property|parameter|header)-/.test(gone.code)) return
  const there = added.filter(
    (other) => other.subject.name === gone.subject.name && other.subject.shape === gone.subject.shape,
  )
  const near = there.find((other) => sameOwner(gone, other)) ?? there.find((other) => sharesUse(gone, other))
  if (!near) return
  const evidence = ['same name', 'same shape']
  const [from, to] = [formatLocation(gone.at), formatLocation(near.at)]
  proposals.set(gone, { kind: 'move', from: [from], to: [to], evidence, ...placeOf(near) })
}

const placeOf = (come: Named) => (come.new ? { place: come.new } : {})

const sameOwner = (one: Located, other: Located): boolean =>
  one.at.kind === 'schema' && other.at.kind === 'schema' && one.at.component === other.at.component

const sharesUse = (one: Located, other: Located): boolean => one.uses.some((use) => other.uses.includes(use))
