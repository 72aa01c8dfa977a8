// @ts-nocheck
/** Moves members of objects and bindings of patterns into nested ones. */
import type { ts } from 'ts-morph'
import type { SourceEdit } from './edits.ts'
import type { FileContext } from './file-context.ts'
import { insertMember } from './object-members.ts'
import { keyOf } from './spelling.ts'
import { nameOf } from './syntax.ts'

/** A member of an object, or a binding of a pattern, that moves into a nested one. */
export interface MovedPart {
  readonly part: ts.Node
  /** The range of its value, or of what it is bound to. */
  readonly value: readonly [start: number, end: number]
  readonly to: readonly string[]
  readonly change?: string | undefined
}

/** Moves parts into nested objects: into one that is there, or all into the same new one. */
export function moveParts(
  context: FileContext,
  parts: readonly ts.Node[],
  moves: readonly MovedPart[],
): void {
  const { ts, file } = context
  const groups = new Map<string, MovedPart[]>()
  for (const move of moves) {
    const path = move.to.slice(0, -1).join('.')
    groups.set(path, [...(groups.get(path) ?? []), move])
  }
  const removed = new Map<ts.Node, string | undefined>()
  for (const group of groups.values()) {
    const [first, ...others] = group
    const { part, change } = first!
    const parents = first!.to.slice(0, -1)
    const moved = group.flatMap(({ value, to }, index): SourceEdit['parts'] => {
      const name = to.at(-1)!
      const isShort = file.text.slice(...value) === name
      return [`${index === 0 ? '' : ', '}${isShort ? '' : `${keyOf(context, name)}: `}`, value]
    })
    const nested = parts.find(
      (each): each is ts.PropertyAssignment =>
        ts.isPropertyAssignment(each) && parents.length === 1 && nameOf(ts, each.name) === parents[0],
    )?.initializer
    if (nested && !ts.isObjectLiteralExpression(nested)) {
      context.mark(part, change)
      continue
    }
    for (const each of nested ? group : others) removed.set(each.part, each.change)
    if (nested) insertMember(context, change, nested, moved)
    else {
      const opened = parents.map((name) => `${keyOf(context, name)}: { `).join('')
      context.edit(change, part.getStart(file), part.end, opened, ...moved, ' }'.repeat(parents.length))
    }
  }
  removeParts(context, parts, removed)
}

/** @param removed the parts to remove, each with the change that the removal follows. */
function removeParts(
  { file, edit }: FileContext,
  parts: readonly ts.Node[],
  removed: ReadonlyMap<ts.Node, string | undefined>,
): void {
  const lastKept = parts.findLastIndex((part) => !removed.has(part))
  for (const [index, part] of parts.entries()) {
    if (!removed.has(part)) continue
    const next = parts[index + 1]
    if (next && index < lastKept) edit(removed.get(part), part.getStart(file), next.getStart(file))
    else {
      // The last ones go together, with the comma before them.
      const start = lastKept < 0 ? part.getStart(file) : parts[lastKept]!.end
      return edit(removed.get(part), start, parts.at(-1)!.end)
    }
  }
}
