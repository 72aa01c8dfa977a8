/** What the page and its worker send each other. */
import type { Comparison, Edits } from './compare.ts'

export interface CompareRequest {
  readonly old: string
  readonly next: string
  readonly edits: Edits
}

/** A finding about one of the documents. */
export interface ListedFinding {
  readonly severity: 'error' | 'warning' | 'note'
  readonly code: string
  readonly message: string
  readonly document: 'old' | 'new'
  readonly line?: number
  readonly hint?: string
}

export interface CompareAnswer {
  readonly findings: readonly ListedFinding[]
  /** Absent if a document cannot be read, or `failure` is set. */
  readonly comparison?: Comparison
  /** The comparison failed: a bug, or documents that exceed what a browser can do. */
  readonly failure?: string
}
