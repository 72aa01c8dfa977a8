// @ts-nocheck
/** What the upgrade of a file knows of the program, and how it writes edits and marks. */
import type { ts } from 'ts-morph'
import type { SourceEdit } from './edits.ts'
import type { Operations } from './operations.ts'
import type { MethodRow, UpgradeStep } from './rules.ts'
import type { Sites, TypeScriptCompiler } from './sites.ts'

/** A place in a file that needs a person. Positions are those of the text before the step. */
export interface UpgradeMark {
  readonly start: number
  readonly version: string
  /** Id of the change; absent if no single change is the reason. */
  readonly change?: string | undefined
  readonly why: string
  /** Whether it is only reported, because it may be nothing. */
  readonly isNoted?: true
}

/** An edit with the change that it follows; absent if it follows from the date alone. */
export interface UpgradeEdit extends SourceEdit {
  readonly change?: string | undefined
}

/** A program with the names of its client package. */
export interface ClientProgram {
  /** The versions of the whole upgrade. A step is a part of it. */
  readonly from: string
  readonly to: string
  readonly ts: TypeScriptCompiler
  readonly checker: ts.TypeChecker
  readonly package: string
  /** The file of the package that declares the types of the older version. */
  readonly types: ts.SourceFile
  /** The sites of what that file declares. */
  readonly sites: Sites
  /** The operations of the older version. */
  readonly operations: Operations
  /** Returns how the newer version calls an operation; undefined if it lacks the operation. */
  laterRow(id: string): MethodRow | undefined
}

/** A file of the program in one step. */
export interface FileContext extends ClientProgram {
  readonly step: UpgradeStep
  readonly file: ts.SourceFile
  readonly quote: string
  /** @param change the change that the edit follows. */
  edit(change: string | undefined, start: number, end: number, ...parts: SourceEdit['parts']): void
  /** Replaces a node. */
  replace(change: string | undefined, node: ts.Node, ...parts: SourceEdit['parts']): void
  /** Marks a node with the reason of a change. */
  mark(node: ts.Node, change: string | undefined): void
  /** Marks a node for a reason that is not one change. */
  warn(node: ts.Node, why: string): void
  /** Reports a node, and writes no comment. */
  note(node: ts.Node, why: string): void
}
