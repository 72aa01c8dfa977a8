// @ts-nocheck
/** Edits of a text that may lie inside each other, and positions before and after them. */

export const newlineOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

/** Replaces a range by texts and by ranges of the source, in which other edits apply. */
export interface SourceEdit {
  readonly start: number
  readonly end: number
  readonly parts: readonly (string | readonly [start: number, end: number])[]
}

/** A copied range. */
interface CopiedRange {
  readonly source: number
  readonly target: number
  readonly length: number
}

/** An edited text, with the ranges that were copied. */
export interface EditedText {
  readonly text: string
  readonly copied: readonly CopiedRange[]
}

/** Applies edits. Equal edits apply once. An edit inside another one applies if that one keeps its range. */
export function applyEdits(source: string, edits: readonly SourceEdit[]): EditedText {
  const copied: CopiedRange[] = []
  let text = ''
  const distinct = [...new Map(edits.map((edit) => [JSON.stringify(edit), edit])).values()]
  const isInsertion = (edit: SourceEdit) => Number(edit.start === edit.end)
  distinct.sort((a, b) => a.start - b.start || isInsertion(b) - isInsertion(a) || b.end - a.end)
  render(0, source.length, distinct)
  return { text, copied }

  function render(start: number, end: number, own: readonly SourceEdit[]): void {
    let at = start
    for (let index = 0; index < own.length; ) {
      const edit = own[index]!
      const inner: SourceEdit[] = []
      for (index++; index < own.length && own[index]!.start < edit.end; index++) inner.push(own[index]!)
      copy(at, edit.start)
      for (const part of edit.parts) {
        if (typeof part === 'string') text += part
        else
          render(
            ...part,
            inner.filter((each) => each.start >= part[0] && each.end <= part[1]),
          )
      }
      at = edit.end
    }
    copy(at, end)
  }

  function copy(start: number, end: number): void {
    if (end <= start) return
    copied.push({ source: start, target: text.length, length: end - start })
    text += source.slice(start, end)
  }
}

/** Returns where a position of the source is in the edited text, or the nearest copied position before it. */
export const positionAfter = ({ copied }: EditedText, position: number): number =>
  nearest(copied, position, 'source', 'target')

/** Returns where a position of the edited text was in the source. */
export const positionBefore = ({ copied }: EditedText, position: number): number =>
  nearest(copied, position, 'target', 'source')

function nearest(
  copied: readonly CopiedRange[],
  position: number,
  from: 'source' | 'target',
  to: 'source' | 'target',
): number {
  const before = copied
    .filter((each) => each[from] <= position)
    .reduce<CopiedRange | undefined>(
      (last, each) => (last && last[from] > each[from] ? last : each),
      undefined,
    )
  return before ? before[to] + Math.min(position - before[from], before.length) : 0
}
