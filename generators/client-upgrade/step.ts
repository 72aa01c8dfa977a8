/** Upgrades a file of a program from one version to the next. */
import type { ts } from 'ts-morph'
import { upgradeAccess } from './accesses.ts'
import { upgradeCall } from './calls.ts'
import type { ClientProgram, FileContext, UpgradeEdit, UpgradeMark } from './file-context.ts'
import { upgradeIndexedType, upgradeName } from './names.ts'
import { upgradeObject } from './objects.ts'
import { upgradePattern } from './patterns.ts'
import type { UpgradeStep } from './rules.ts'
import { upgradeText } from './texts.ts'
import { markAssertion, markComputed, markUntypedCall, markVariable } from './untyped.ts'

export interface UpgradedFile {
  readonly edits: readonly UpgradeEdit[]
  readonly marks: readonly UpgradeMark[]
}

/** Returns the edits and marks of one file. */
export const upgradeFile = (program: ClientProgram, step: UpgradeStep, file: ts.SourceFile): UpgradedFile =>
  editFile(program, step, file, upgradeNode)

/** Visits all nodes of a file, and returns the edits and marks. */
export function editFile(
  program: ClientProgram,
  step: UpgradeStep,
  file: ts.SourceFile,
  visitNode: (context: FileContext, node: ts.Node) => void,
): UpgradedFile {
  const edits: UpgradeEdit[] = []
  const marks = new Map<string, UpgradeMark>()
  const context: FileContext = {
    ...program,
    step,
    file,
    quote: /from "/.test(file.text) && !/from '/.test(file.text) ? '"' : "'",
    edit: (change, start, end, ...parts) => void edits.push({ start, end, parts, change }),
    replace: (change, node, ...parts) => context.edit(change, node.getStart(file), node.end, ...parts),
    mark(node, change) {
      const why = change === undefined ? 'names in the path have changed' : (step.changes[change] ?? '')
      addMark(node, { version: step.to, why, change })
    },
    warn: (node, why) => addMark(node, { version: program.to, why }),
    note: (node, why) => addMark(node, { version: step.to, why, isNoted: true }),
  }

  visit(file)
  return { edits, marks: [...marks.values()] }

  function addMark(node: ts.Node, mark: Omit<UpgradeMark, 'start'>): void {
    const start = node.getStart(file)
    marks.set(`${start} ${mark.why}`, { ...mark, start })
  }

  function visit(node: ts.Node): void {
    visitNode(context, node)
    node.forEachChild(visit)
  }
}

function upgradeNode(context: FileContext, node: ts.Node): void {
  const { ts } = context
  if (ts.isStringLiteralLike(node)) upgradeText(context, node)
  else if (ts.isPropertyAccessExpression(node)) upgradeAccess(context, node, node.name)
  else if (ts.isElementAccessExpression(node)) {
    if (ts.isStringLiteralLike(node.argumentExpression)) upgradeAccess(context, node, node.argumentExpression)
    else markComputed(context, node.expression, node)
  } else if (ts.isObjectLiteralExpression(node)) upgradeObject(context, node)
  else if (ts.isObjectBindingPattern(node)) upgradePattern(context, node)
  else if (ts.isIndexedAccessTypeNode(node)) upgradeIndexedType(context, node)
  else if (ts.isIdentifier(node)) upgradeName(context, node)
  else if (ts.isCallExpression(node)) {
    upgradeCall(context, node)
    markUntypedCall(context, node)
  } else if (ts.isAssertionExpression(node)) markAssertion(context, node)
  else if (ts.isVariableDeclaration(node)) markVariable(context, node)
  else if (ts.isForInStatement(node)) markComputed(context, node.expression, node.expression)
}
