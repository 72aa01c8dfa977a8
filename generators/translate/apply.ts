/** Applies a rewrite directly, without generating code, to check examples. Does not modify its argument. */
import type { Turn } from '../change/change.ts'
import { put, take, without } from '../runtime/paths.ts'
import type { Case, Direction, LensAt, PairFunction, Rewrite, ShapeMember, Test } from './model.ts'

export interface Applied {
  readonly direction: Direction
  readonly functions: ReadonlyMap<string, PairFunction>
}

type JsonMembers = Record<string, unknown>

/** Returns the value as the other version has it. */
export function applyRewrite(rewrite: Rewrite, value: unknown, by: Applied): unknown {
  switch (rewrite.kind) {
    case 'same':
      return value
    case 'call': {
      const called = by.functions.get(rewrite.key)
      const rewritten = called && (value !== null || called.rewrite.kind === 'instead')
      return rewritten ? applyRewrite(called.rewrite, value, by) : value
    }
    case 'names':
      return rewrite.names.get(String(value)) ?? value
    case 'turn':
      return value === null || value === undefined ? value : turnOf(rewrite.by, by)(value)
    case 'list':
      return Array.isArray(value) ? applyList(rewrite, value, by) : value
    case 'map':
      return isObject(value) ? applyMap(rewrite, value, by) : value
    case 'object':
      return isObject(value) ? applyObject(rewrite.members, value, by) : value
    case 'wrap':
      return value === null && rewrite.empty === null ? [] : [applyRewrite(rewrite.inner, value, by)]
    case 'first':
      if (!Array.isArray(value)) return value
      return value.length === 0 ? structuredClone(rewrite.empty) : applyRewrite(rewrite.inner, value[0], by)
    case 'choice': {
      const chosen = rewrite.cases.find((each) => holds(each, value))
      return chosen ? applyRewrite(chosen.rewrite, value, by) : value
    }
    case 'instead':
      return value === null ? structuredClone(rewrite.value) : applyRewrite(rewrite.rewrite, value, by)
    case 'relocate':
      return isObject(value) ? relocate(rewrite, value, by) : value
    case 'all':
      return rewrite.parts.reduce((inner, part) => applyRewrite(part, inner, by), value)
  }
}

const isObject = (value: unknown): value is JsonMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the function that a lens applies to a value. The functions of a lens are typed only in its declaration. */
function turnOf({ lens }: LensAt, { direction }: Applied): (value: unknown) => unknown {
  const turns = lens as Partial<Record<Direction, Turn>>
  const turn = turns[direction]
  return turn ? (value) => turn(value as never) : (value) => value
}

function applyList(
  { item, without, nullable }: Extract<Rewrite, { kind: 'list' }>,
  values: unknown[],
  by: Applied,
) {
  const kindOf = (value: unknown) => (without?.by === undefined ? value : (value as JsonMembers)[without.by])
  const kept = without ? values.filter((value) => !without.added.includes(String(kindOf(value)))) : values
  return kept.map((value) => (value === null && nullable ? value : applyRewrite(item, value, by)))
}

function applyMap(
  { value, except, nullable }: Extract<Rewrite, { kind: 'map' }>,
  values: JsonMembers,
  by: Applied,
) {
  const entries = Object.entries(values).map(([name, each]) => [
    name,
    except.includes(name) || (each === null && nullable) ? each : applyRewrite(value, each, by),
  ])
  return Object.fromEntries(entries)
}

function holds({ test }: Case, value: unknown): boolean {
  return test !== undefined && testHolds(test, value)
}

function testHolds(test: Test, value: unknown): boolean {
  switch (test.kind) {
    case 'tag':
      return isObject(value) && test.values.includes(value[test.property])
    case 'some':
      return test.tests.some((each) => testHolds(each, value))
    case 'has':
      return isObject(value) && value[test.property] !== undefined
    case 'type':
      if (test.type === 'array') return Array.isArray(value)
      return test.type === 'object' ? isObject(value) : typeof value === test.type
  }
}

function relocate(
  { inner, moves }: Extract<Rewrite, { kind: 'relocate' }>,
  values: JsonMembers,
  by: Applied,
) {
  const found = moves.map(({ source }) => take(values, source))
  let next = applyRewrite(inner, values, by)
  for (const { source } of moves) next = without(next, source)
  for (const [index, { target, rewrite, nullable, made }] of moves.entries()) {
    const value = found[index]
    const kept = value === null && nullable && rewrite.kind !== 'turn'
    if (value !== undefined) next = put(next, target, kept ? value : applyRewrite(rewrite, value, by))
    for (const path of made) if (take(next, path) === undefined) next = put(next, path, {})
  }
  return next
}

function applyObject(members: readonly ShapeMember[], values: JsonMembers, by: Applied): JsonMembers {
  const next = { ...values }
  for (const member of members) {
    if (member.kind === 'remove') delete next[member.name]
    if (member.kind === 'move') delete next[member.from]
    if (member.kind === 'group') for (const name of member.from) delete next[name]
  }
  for (const member of members) Object.assign(next, changedMembers(member, values, by))
  return next
}

function changedMembers(member: ShapeMember, values: JsonMembers, by: Applied): JsonMembers {
  switch (member.kind) {
    case 'remove':
      return {}
    case 'change': {
      const value = values[member.name]
      if (value === undefined) return {}
      const kept = value === null && member.rewrite.kind === 'call' && !member.takesNull
      return { [member.name]: kept ? value : applyRewrite(member.rewrite, value, by) }
    }
    case 'fill': {
      const value = values[member.name]
      if (value === (member.of === 'null' ? null : undefined))
        return { [member.name]: structuredClone(member.value) }
      return value === undefined ? {} : { [member.name]: applyRewrite(member.rewrite, value, by) }
    }
    case 'move': {
      const value = values[member.from]
      if (value === undefined) return {}
      if (member.by) return { [member.to]: turnOf(member.by, by)(value) }
      const isMade = member.rewrite && (value !== null || member.rewrite.kind === 'wrap')
      return { [member.to]: isMade ? applyRewrite(member.rewrite!, value, by) : value }
    }
    case 'group':
      return member.from.some((name) => values[name] !== undefined)
        ? (turnOf(member.by, by)(values) as JsonMembers)
        : {}
    case 'default':
      return values[member.name] === undefined ? { [member.name]: structuredClone(member.value) } : {}
    case 'make':
      return { [member.name]: turnOf(member.by, by)(values) }
  }
}
