/** Finds the line and column of a JSON pointer in a text. Most pointers are never located, so nothing is read before that. */
import type { SourceLocation } from '../diagnostics/place.ts'
import { findOffsets } from './read-offsets.ts'
import { readLocated } from './read-yaml.ts'
import { scanJson } from './scan-json.ts'

export interface Position {
  readonly line: number
  readonly column: number
}

export interface Locator {
  /** Returns the position of a pointer's node, or of its nearest known ancestor. */
  readonly ofPointer: (pointer: string) => Position
  readonly ofOffset: (offset: number) => Position
}

/** @param offsets the offsets of the text by pointer, if they are known already. */
export function createLocator(text: string, offsets?: ReadonlyMap<string, number>): Locator {
  const ofOffset = lineFinder(text)
  return { ofOffset, ofPointer: (pointer) => ofOffset(offsetOf(pointer, offsets ?? recentOffsets(text))) }
}

/** A source location that computes its line on first access. Every node has one, but few are ever printed. */
export class LazyPlace implements SourceLocation {
  readonly file: string
  readonly pointer: string
  #position: (() => Position) | Position

  constructor(file: string, pointer: string, locate: () => Position) {
    this.file = file
    this.pointer = pointer
    this.#position = locate
  }

  get line(): number {
    return this.#found().line
  }

  get column(): number {
    return this.#found().column
  }

  /** Includes the line and column in JSON. */
  toJSON(): SourceLocation {
    return { file: this.file, ...this.#found(), pointer: this.pointer }
  }

  #found(): Position {
    if (typeof this.#position === 'function') {
      const { line, column } = this.#position()
      this.#position = { line, column }
    }
    return this.#position
  }
}

/** Returns the offset of a pointer's node, or of its nearest known ancestor. */
function offsetOf(pointer: string, offsets: ReadonlyMap<string, number>): number {
  let at = pointer
  while (at !== '' && !offsets.has(at)) at = at.slice(0, at.lastIndexOf('/'))
  return offsets.get(at) ?? 0
}

/**
 * Offsets of recently used texts. The limit bounds memory; findings are located document by document or in
 * pairs, so few texts are used at a time.
 */
const MAX_RECENT = 4
const recent = new Map<string, ReadonlyMap<string, number>>()

function recentOffsets(text: string): ReadonlyMap<string, number> {
  const offsets = recent.get(text) ?? scanJson(text) ?? findOffsets(text) ?? readLocated(text).offsets
  recent.delete(text)
  recent.set(text, offsets)
  if (recent.size > MAX_RECENT) recent.delete(recent.keys().next().value!)
  return offsets
}

/** Returns a function that converts an offset to a 1-based line and column. */
function lineFinder(text: string): (offset: number) => Position {
  let starts: number[] | undefined
  return (offset) => {
    if (!starts) {
      starts = [0]
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
    }
    let low = 0
    let high = starts.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (starts[middle]! <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: offset - starts[low]! + 1 }
  }
}
