/** Source lines for printing findings. Each file is read at most once. */
import type { LinesOf } from '../diagnostics/diagnostic.ts'
import { readText } from '../output/write.ts'

export interface SourceLines {
  readonly linesOf: LinesOf
  /** Supplies lines of a file by number, starting at 1, so that the file is not read. */
  know(file: string, lines: Readonly<Record<number, string>>): void
}

/** Returns sources with an empty cache. */
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
