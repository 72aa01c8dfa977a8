/** Small faults that can be put into source text, one at a time. */
import { type Node, Project, type SourceFile, SyntaxKind } from 'ts-morph'
import type { Replacement } from './replacement.ts'

/** One fault: a part of a file, and its replacement. */
export interface Mutation extends Replacement {
  readonly line: number
  readonly what: string
  /** The part of a statement that contains the fault, if it is in one. */
  readonly sql?: string
}

/** Comparisons and operators that differ at the boundary or in the sense. */
const FLIPPED: Readonly<Record<string, string>> = {
  '<': '<=',
  '>': '>=',
  '<=': '<',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
}

/** Parts of SQL, with what replaces them. */
const SQL: readonly (readonly [RegExp, string, string])[] = [
  [/ FOR (?:NO KEY )?UPDATE(?: OF \w+)?(?: SKIP LOCKED)?/g, '', 'drop the lock'],
  [/ SKIP LOCKED/g, '', 'wait for locked rows'],
  [/ ON CONFLICT(?: \([\w, ]+\))? DO NOTHING/g, '', 'drop ON CONFLICT'],
  [/ AND (?:\w+\.)?token = \$\d+/g, '', 'ignore the token'],
  [/ AND (?:\w+\.)?status = '\w+'/g, '', 'ignore the status'],
  [/ IS NULL\b/g, ' IS NOT NULL', 'turn IS NULL around'],
  [/ IS NOT NULL\b/g, ' IS NULL', 'turn IS NOT NULL around'],
  [/ <= /g, ' < ', 'flip <='],
  [/ >= /g, ' > ', 'flip >='],
  [/ < /g, ' <= ', 'flip <'],
  [/ > /g, ' >= ', 'flip >'],
  [/ \+ (?=1\b|excluded|\$)/g, ' - ', 'subtract instead'],
  [/ORDER BY (?:\w+\.)?(?:sequence|due|due_at)\b/g, 'ORDER BY random()', 'order at random'],
]

const IS_SQL = /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|RETURNING|WHERE)\b/

function inSql(file: string, whole: string, from: number, to: number): Mutation[] {
  const text = whole.slice(from, to)
  if (!IS_SQL.test(text)) return []
  return SQL.flatMap(([part, replacement, what]) =>
    [...text.matchAll(part)].map(({ index, 0: found }) => {
      const start = from + index
      const line = whole.slice(0, start).split('\n').length
      return {
        file,
        line,
        start,
        end: start + found.length,
        text: replacement,
        what: `${what}: ${found.trim()}`,
        sql: partAround(text, index),
      }
    }),
  )
}

/** Returns the part of a template's line that contains the place, without what is interpolated. */
function partAround(text: string, place: number): string {
  const from = Math.max(...['\n', '}', '`'].map((each) => text.lastIndexOf(each, place))) + 1
  const ends = ['\n', '${', '`'].map((each) => text.indexOf(each, place)).filter((each) => each >= 0)
  const part = text.slice(from, Math.min(...ends, text.length))
  return part.replaceAll(/^\s*['"]|['"]\s*$/g, '').trim()
}

/** Returns the faults of a SQL file. */
export const mutationsOfSql = (file: string, text: string): Mutation[] => inSql(file, text, 0, text.length)

/** Returns the faults of a TypeScript file. */
export function mutationsOfCode(file: string, text: string): Mutation[] {
  const source = new Project({ useInMemoryFileSystem: true }).createSourceFile('source.ts', text)
  const replaced = (node: Node, replacement: string, what: string): Mutation => ({
    file,
    line: node.getStartLineNumber(),
    start: node.getStart(),
    end: node.getEnd(),
    text: replacement,
    what,
  })
  return [
    ...ofStatements(source, replaced),
    ...ofOperators(source, replaced),
    ...ofLiterals(source, replaced),
    ...[
      SyntaxKind.NoSubstitutionTemplateLiteral,
      SyntaxKind.TemplateExpression,
      SyntaxKind.StringLiteral,
    ].flatMap((kind) =>
      source.getDescendantsOfKind(kind).flatMap((node) => inSql(file, text, node.getStart(), node.getEnd())),
    ),
  ]
}

type Replace = (node: Node, replacement: string, what: string) => Mutation

const shortOf = (node: Node) => node.getText().replaceAll(/\s+/g, ' ').slice(0, 70)

function ofStatements(source: SourceFile, replaced: Replace): Mutation[] {
  const statements = source.getDescendantsOfKind(SyntaxKind.ExpressionStatement)
  const conditions = source.getDescendantsOfKind(SyntaxKind.IfStatement).map((each) => each.getExpression())
  // The linter refuses a promise that is a whole statement without `await` (noFloatingPromises).
  const awaits = source
    .getDescendantsOfKind(SyntaxKind.AwaitExpression)
    .filter((each) => each.getParent()?.getKind() !== SyntaxKind.ExpressionStatement)
  return [
    ...statements.map((node) => replaced(node, 'void 0', `drop: ${shortOf(node)}`)),
    ...conditions.map((node) => replaced(node, 'false', `never: if (${shortOf(node)})`)),
    ...awaits.map((node) =>
      replaced(node, `(${node.getExpression().getText()})`, `do not await: ${shortOf(node)}`),
    ),
  ]
}

function ofOperators(source: SourceFile, replaced: Replace): Mutation[] {
  return source.getDescendantsOfKind(SyntaxKind.BinaryExpression).flatMap((node) => {
    const operator = node.getOperatorToken()
    const other = FLIPPED[operator.getText()]
    const isText = operator.getText() === '+' && /['"`]/.test(node.getText())
    return other === undefined || isText ? [] : [replaced(operator, other, `${other} for: ${shortOf(node)}`)]
  })
}

/** Numbers from here on are doubled: one more of a thousand is no fault that anyone can notice. */
const LARGE = 1000

function ofLiterals(source: SourceFile, replaced: Replace): Mutation[] {
  return source
    .getDescendantsOfKind(SyntaxKind.NumericLiteral)
    .filter((node) => !node.getFirstAncestorByKind(SyntaxKind.TypeReference))
    .map((node) => {
      const [change, what] = node.getLiteralValue() < LARGE ? ['+ 1', 'one more'] : ['* 2', 'twice']
      return replaced(node, `(${node.getText()} ${change})`, `${what}: ${shortOf(node.getParentOrThrow())}`)
    })
}
