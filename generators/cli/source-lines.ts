/** The lines that findings are about: each file is read once, however many findings are about it, or not at all. */
import type { LinesOf } from '../diagnostics/diagnostic.ts'
import { readText } from '../output/write.ts'

export interface SourceLines {
  readonly linesOf: LinesOf
  /** Says what some lines of a file are, by number from 1, so that nobody reads the file for them. */
  know(file: string, lines: Readonly<Record<number, string>>): void
}

/** @returns sources of which nothing is known yet. */
export function createSourceLines(): SourceLines {
  const known = new Map<string, readonly string[] | undefined>()
  return {
    linesOf(file) {
      if (!known.has(file)) known.set(file, readText(file)?.split('\n'))
      return known.get(file)
    },
    know(file, lines) {
      const sparse: string[] = []
      for (const [number, line] of Object.entries(lines)) sparse[Number(number) - 1] = line
      known.set(file, sparse)
    },
  }
}
