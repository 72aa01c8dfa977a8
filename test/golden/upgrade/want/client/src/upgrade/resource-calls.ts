// @ts-nocheck
/** Writes calls that take one object with `path`, `query` and `body` as calls of methods of resources. */
import type { ts } from 'ts-morph'
import { calledOperation } from './applicable-rules.ts'
import type { SourceEdit } from './edits.ts'
import type { FileContext } from './file-context.ts'
import type { CalledOperation } from './operations.ts'
import type { UpgradeStep } from './rules.ts'
import { accessOf, keyOf } from './spelling.ts'
import { editFile, type upgradeFile } from './step.ts'
import { nameOf, namingNode } from './syntax.ts'

type Parts = SourceEdit['parts']

/** A step that stays in a version. */
export const emptyStep = (version: string): UpgradeStep => ({
  ...{ from: version, to: version, changes: {}, sites: {}, operations: {}, schemas: {}, headers: [] },
})

/** Returns the edits and marks of one file. */
export const useResources: typeof upgradeFile = (program, step, file) =>
  editFile(program, step, file, useResource)

/** Rewrites a call, or marks what uses the old form in another way. */
function useResource(context: FileContext, node: ts.Node): void {
  const { ts, checker } = context
  if (ts.isCallExpression(node)) {
    const called = calledOperation(context, checker.getSymbolAtLocation(namingNode(ts, node.expression)))
    if (called?.form === 'flat') rewriteMethod(context, node, called)
    else if (called?.form === 'function') rewriteFunction(context, node, called)
  } else if (ts.isPropertyAccessExpression(node)) {
    const isCalled = ts.isCallExpression(node.parent) && node.parent.expression === node
    if (!isCalled) warnOf(context, node, checker.getSymbolAtLocation(node.name))
  } else if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent)) {
    const owner = checker.getTypeAtLocation(node.parent)
    warnOf(context, node, checker.getPropertyOfType(owner, nameOf(ts, node.propertyName ?? node.name)))
  }
}

function warnOf(context: FileContext, node: ts.Node, symbol: ts.Symbol | undefined): void {
  const called = calledOperation(context, symbol)
  if (called?.form === 'flat') warnForm(context, node, called)
}

const warnForm = (context: FileContext, node: ts.Node, { row }: CalledOperation): void =>
  context.warn(node, `call \`client.${row.method.join('.')}(${argumentsOf(row).join(', ')})\` instead`)

const argumentsOf = ({ path = [], part }: CalledOperation['row']): string[] => [
  ...path,
  ...(part ? [part] : []),
  'options',
]

function rewriteMethod(context: FileContext, call: ts.CallExpression, called: CalledOperation): void {
  const { ts, file } = context
  const { expression } = call
  const written = argumentsFrom(context, call.arguments[0], called)
  if (!written || !ts.isPropertyAccessExpression(expression) || expression.questionDotToken)
    return warnForm(context, call, called)
  const root = expression.expression.end
  // What is between the client and the dot stays, such as a new line.
  const space = file.text.slice(root, file.text.indexOf('.', root))
  const method = called.row.method.map((name) => accessOf(context, name))
  context.edit(undefined, root, expression.name.end, space + method.join(''))
  const [first] = call.arguments
  if (first) context.replace(undefined, first, ...written)
}

/** A function keeps its name. Its connection stays the first argument. */
function rewriteFunction(context: FileContext, call: ts.CallExpression, called: CalledOperation): void {
  const { ts } = context
  const { path = [], part } = called.row
  const input = call.arguments[1]
  if (!input || (path.length === 0 && !part)) return
  const isOld = ts.isObjectLiteralExpression(input)
    ? membersOf(context, input)?.has(path.length > 0 ? 'path' : part!)
    : path.length > 0 &&
      !call.arguments[2] &&
      context.checker.getPropertyOfType(context.checker.getTypeAtLocation(input), 'path')
  if (!isOld) return
  const written = argumentsFrom(context, input, called)
  if (written) context.replace(undefined, input, ...written)
  else warnForm(context, call, called)
}

/** Returns the arguments of the new form; undefined if the old input does not show its parts. */
function argumentsFrom(
  context: FileContext,
  input: ts.Expression | undefined,
  { row: { path = [], part } }: CalledOperation,
): Parts | undefined {
  const { ts } = context
  const members = !input
    ? new Map()
    : ts.isObjectLiteralExpression(input)
      ? membersOf(context, input)
      : undefined
  if (!members) return undefined
  const given: Parts[] = []
  if (path.length > 0) {
    const held = members.get('path')
    const names = held && ts.isObjectLiteralExpression(held) ? membersOf(context, held) : undefined
    for (const name of path) {
      const value = names?.get(name)
      if (!value) return undefined
      given.push([rangeOf(context, value)])
    }
  }
  const params = part && members.get(part)
  const rest = [...members].filter(([name]) => name !== 'path' && name !== part)
  if (members.has('header') && members.has('headers')) return undefined
  if (params) given.push([rangeOf(context, params)])
  else if (part && rest.length > 0) given.push(['undefined'])
  if (rest.length > 0)
    given.push([
      '{ ',
      ...rest.flatMap(([name, value], index): Parts => {
        const key = keyOf(context, name === 'header' ? 'headers' : name === 'timeoutMs' ? 'timeout' : name)
        const range = rangeOf(context, value)
        const isShort = context.file.text.slice(...range) === key
        return [index > 0 ? ', ' : '', ...(isShort ? [] : [`${key}: `]), range]
      }),
      ' }',
    ])
  return given.flatMap((parts, index): Parts => (index > 0 ? [', ', ...parts] : parts))
}

/** Returns the values of an object by name; undefined if it has other members than names with values. */
function membersOf(
  { ts }: FileContext,
  object: ts.ObjectLiteralExpression,
): ReadonlyMap<string, ts.Expression> | undefined {
  const members = new Map<string, ts.Expression>()
  for (const member of object.properties) {
    if (ts.isPropertyAssignment(member)) members.set(nameOf(ts, member.name), member.initializer)
    else if (ts.isShorthandPropertyAssignment(member)) members.set(member.name.text, member.name)
    else return undefined
  }
  return members
}

const rangeOf = ({ file }: FileContext, node: ts.Node): readonly [number, number] => [
  node.getStart(file),
  node.end,
]
