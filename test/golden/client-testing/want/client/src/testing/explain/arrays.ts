/** Checks the array keywords. */
import {
  attempt,
  type CheckOf,
  canonical,
  checkBelow,
  count,
  fault,
  isFull,
  type Json,
  type KnownDocument,
  listIn,
  numberIn,
  type Walk,
} from './walk.ts'

export function makeArray(known: KnownDocument, rules: Json): CheckOf<readonly unknown[]> | undefined {
  const [least, most] = [numberIn(rules, 'minItems'), numberIn(rules, 'maxItems')]
  const prefix = listIn(rules, 'prefixItems').map((each) => known.checkOf(each))
  const contained = makeContains(known, rules)
  const each = rules['x-judged'] === 'each' ? undefined : known.checkOf(rules.items)
  return (walk, list) => {
    if (least !== undefined && list.length < least) {
      return fault(walk, 'minItems', `must have at least ${count(least, 'item')}`)
    }
    if (most !== undefined && list.length > most) {
      return fault(walk, 'maxItems', `must have at most ${count(most, 'item')}`)
    }
    for (let index = 0; index < list.length && !isFull(walk); index++) {
      const check = index < prefix.length ? prefix[index] : each
      if (check) checkBelow(walk, check, list[index], index)
      else if (index >= prefix.length) break
    }
    contained?.(walk, list)
    if (rules.uniqueItems === true && !isFull(walk)) checkUnique(walk, list)
  }
}

function checkUnique(walk: Walk, list: readonly unknown[]): void {
  const scalars = new Set<unknown>()
  const others = new Set<string>()
  for (const [index, item] of list.entries()) {
    const other = typeof item === 'object' && item !== null ? canonical(item) : undefined
    if (other === undefined ? scalars.has(item) : others.has(other)) {
      return fault(walk, 'uniqueItems', 'repeats an earlier item', index)
    }
    if (other === undefined) scalars.add(item)
    else others.add(other)
  }
}

function makeContains(known: KnownDocument, rules: Json): CheckOf<readonly unknown[]> | undefined {
  if (rules.contains === undefined) return undefined
  const check = known.checkOf(rules.contains)
  const [least, most] = [numberIn(rules, 'minContains') ?? 1, numberIn(rules, 'maxContains')]
  return (walk, list) => {
    const fitting = list.filter((item) => attempt(walk, check, item).length === 0).length
    if (fitting < least)
      fault(
        walk,
        'contains',
        `must contain at least ${count(least, 'item')} that the schema of \`contains\` accepts`,
      )
    else if (most !== undefined && fitting > most)
      fault(
        walk,
        'maxContains',
        `must contain at most ${count(most, 'item')} that the schema of \`contains\` accepts`,
      )
  }
}
