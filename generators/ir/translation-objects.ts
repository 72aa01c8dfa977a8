/** Objects of two versions: which properties are left out, renamed, converted or made. */
import type { SchemaLens } from '../../versions/change.ts'
import type { Api, Property } from './model.ts'
import {
  type LensAt,
  lensesOn,
  type Member,
  namesTable,
  type Rewrite,
  SAME,
  type Step,
} from './translation-model.ts'
import type { Shape } from './translation-shape.ts'
import { pairUnions } from './translation-unions.ts'

/** @returns what takes an object of the one shape to the other. */
export function pairObjects(step: Step, old: Shape, next: Shape): Rewrite {
  const members: Member[] = []
  const settled = new Set<string>()
  for (const at of lensesOn(step, new Set([...old.owners, ...next.owners]))) {
    for (const member of membersFor(at, step, old, next)) members.push(member)
    for (const name of namedBy(at.lens)) settled.add(name)
  }
  const [from, to] = step.direction === 'down' ? [next, old] : [old, next]
  for (const [name, property] of from.properties) {
    if (settled.has(name)) continue
    const target = to.properties.get(name)
    if (target) members.push(changeOf(step, property, old.properties.get(name)!, next.properties.get(name)!))
    else if (step.direction === 'down' && isListed(to)) members.push({ kind: 'remove', name })
  }
  const parts: Rewrite[] = [{ kind: 'object', members }]
  if (old.patterns.size > 0 || next.patterns.size > 0) missPatterns(step, old, next)
  else if (old.rest && next.rest) {
    const { nullable } = step.direction === 'down' ? next.rest : old.rest
    const except = [...from.properties.keys()]
    parts.push({ kind: 'map', value: step.pair(old.rest, next.rest), nullable, except })
  }
  for (const [index, union] of from.unions.entries()) {
    const target = to.unions[index]
    if (!target) continue
    parts.push(step.direction === 'down' ? pairUnions(step, target, union) : pairUnions(step, union, target))
  }
  return { kind: 'all', parts }
}

/** Which rules hold for a property depends on its name, which functions do not look at. */
function missPatterns(step: Step, old: Shape, next: Shape): void {
  for (const [pattern, one] of [...old.patterns, ...(old.rest ? [['', old.rest] as const] : [])]) {
    const other = next.patterns.get(pattern) ?? next.rest
    if (other) step.missed.push({ place: one.place, rewrite: step.pair(one, other) })
  }
}

/** Whether an object names its properties: one that names none says nothing about what it holds. */
const isListed = (shape: Shape): boolean =>
  !shape.rest && (shape.properties.size > 0 || shape.closed) && shape.unions.length === 0

function changeOf(step: Step, from: Property, old: Property, next: Property): Member {
  return {
    kind: 'change',
    name: from.name,
    optional: !from.required || from.schema.nullable,
    rewrite: step.pair(old.schema, next.schema),
  }
}

function namedBy(lens: SchemaLens): readonly string[] {
  switch (lens.kind) {
    case 'rename':
      return [lens.from, lens.to]
    case 'replace':
      return [...lens.old, ...lens.new]
    case 'values':
      return lens.property === undefined ? [] : [lens.property]
    default:
      return [lens.property]
  }
}

function membersFor(at: LensAt<SchemaLens>, step: Step, old: Shape, next: Shape): Member[] {
  const { lens } = at
  const down = step.direction === 'down'
  const from = down ? next : old
  const optional = (name: string) => {
    const property = from.properties.get(name)
    return !property?.required || property.schema.nullable
  }
  const change = (name: string, rewrite: Rewrite): Member[] =>
    from.properties.has(name) ? [{ kind: 'change', name, optional: optional(name), rewrite }] : []
  switch (lens.kind) {
    case 'convert':
      return change(lens.property, { kind: 'turn', by: at, nullish: optional(lens.property) })
    case 'values':
      if (lens.property === undefined) return []
      return change(lens.property, { kind: 'names', names: namesTable(lens, step.direction) })
    case 'rename': {
      const [source, target] = down ? [lens.to, lens.from] : [lens.from, lens.to]
      if (!from.properties.has(source)) return []
      const required = from.properties.get(source)?.required === true
      return [{ kind: 'move', from: source, to: target, optional: !required, ...(lens.up && { by: at }) }]
    }
    case 'replace': {
      const names = down ? lens.new : lens.old
      return names.some((name) => from.properties.has(name)) ? [{ kind: 'group', from: names, by: at }] : []
    }
    case 'drop':
      if (!down) return from.properties.has(lens.property) ? [{ kind: 'remove', name: lens.property }] : []
      return lens.down && old.properties.has(lens.property)
        ? [{ kind: 'make', name: lens.property, by: at }]
        : []
    case 'default': {
      // What both have goes on as it is, but for requests that leave it out.
      const kept = listChange(lens.property, step, old, next)
      if (down)
        return kept.length > 0 || !from.properties.has(lens.property)
          ? kept
          : [{ kind: 'remove', name: lens.property }]
      return next.properties.has(lens.property)
        ? [...kept, { kind: 'default', name: lens.property, value: lens.value, known: kept.length > 0 }]
        : []
    }
    case 'optional':
    case 'nullable': {
      const of = lens.kind === 'optional' ? 'absent' : 'null'
      return listChange(lens.property, step, old, next).map(
        (each): Member =>
          down && each.kind === 'change' ? { ...each, kind: 'fill', of, value: lens.value } : each,
      )
    }
    case 'leave-out':
      return down
        ? change(lens.property, leaveOut(at, step, old, next))
        : listChange(lens.property, step, old, next)
  }
}

function listChange(name: string, step: Step, old: Shape, next: Shape): Member[] {
  const [before, after] = [old.properties.get(name), next.properties.get(name)]
  if (!before || !after) return []
  return [changeOf(step, step.direction === 'down' ? after : before, before, after)]
}

function leaveOut(at: LensAt<SchemaLens>, step: Step, old: Shape, next: Shape): Rewrite {
  const { lens } = at
  if (lens.kind !== 'leave-out') return SAME
  const [before, after] = [old.properties.get(lens.property), next.properties.get(lens.property)]
  const inner = before && after ? step.pair(before.schema, after.schema) : SAME
  const known = new Set(enumValues(step.old, lens.unless))
  return {
    kind: 'list',
    nullable: false,
    item: inner.kind === 'list' ? inner.item : SAME,
    without: {
      added: enumValues(step.next, lens.unless).filter((value) => !known.has(value)),
      ...(lens.by !== undefined && { by: lens.by }),
    },
  }
}

function enumValues(api: Api, component: string): string[] {
  const schema = api.schemas.get(component)
  return schema?.kind === 'enum' ? schema.values.map(String) : []
}
