/**
 * A promise is awaited, returned or given a handler where it is made: one that fails unheard ends the process. The compiler
 * knows which values are promises, so it is asked.
 */
import { join, relative } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

const ROOT = process.cwd()

/** The compiler has to read all of the project. */
const timeout = 300_000

/** Each line that ends with `// unheard` is one of the faults that are looked for. */
const SAMPLE = `
import type { Database } from '../runtime/database/database.ts'
import { pipelined } from '../runtime/database/pipelined.ts'
import type { Pool } from '../runtime/database/pool/pool.ts'
const S = { text: 'SELECT 1' }
async function wrapped(db: Database): Promise<void> {
  await db.query(S)
}
const derived = (db: Database) => db.query(S).then(({ rows }) => rows)
const own = (db: Database, twice: boolean) => (twice ? db.query(S) : Promise.resolve())
function stored(db: Database): Promise<unknown> {
  const sent = own(db, true)
  return sent
}
export function faults(db: Database, pool: Pool): void {
  wrapped(db) // unheard
  void wrapped(db) // unheard
  db.query(S, []) // unheard
  wrapped(db).then(() => 1) // unheard
  wrapped(db).finally(() => 1) // unheard
  db && wrapped(db) // unheard
  ;[1].map(() => wrapped(db)) // unheard
  ;[1].forEach(async () => wrapped(db)) // unheard
  setTimeout(() => wrapped(db), 1) // unheard
  pipelined(wrapped(db)) // unheard
  pipelined(derived(db)) // unheard
  pipelined(pool.query(S)) // unheard
  pipelined(own(pool, true)) // unheard
}
export async function sound(db: Database): Promise<unknown> {
  wrapped(db).catch(() => 1)
  wrapped(db).then(() => 1, () => 2)
  wrapped(db).catch(() => 1).finally(() => 1)
  ;[1].forEach((each) => void each)
  pipelined(db.query(S))
  pipelined(own(db, true))
  pipelined(stored(db))
  await wrapped(db)
  return wrapped(db)
}
`
const SAMPLE_FILE = join(ROOT, 'test/promises-sample.ts')

/** The project as the compiler sees it, with the sample in it. */
function readProject(): ts.Program {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  return ts.createProgram([...fileNames, SAMPLE_FILE], options, {
    ...host,
    fileExists: (file) => file === SAMPLE_FILE || fileExists(file),
    getSourceFile: (file, ...how) =>
      file === SAMPLE_FILE ? ts.createSourceFile(file, SAMPLE, how[0]) : getSourceFile(file, ...how),
  })
}

const project = readProject()
const checker = project.getTypeChecker()

const isPromise = (type: ts.Type): boolean =>
  type.isUnion()
    ? type.types.some(isPromise)
    : (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) === 0 && type.getProperty('then') !== undefined

const isArray = (type: ts.Type): type is ts.TypeReference => checker.isArrayType(type)

const holdsPromise = (type: ts.Type): boolean =>
  isPromise(type) || (isArray(type) && checker.getTypeArguments(type).some(isPromise))

/** A matcher that returns at once, as nearly all statements of tests do: the compiler takes half a minute to say so. */
const isPlainExpectation = (node: ts.ExpressionStatement) =>
  /^expect\(/.test(node.getText()) &&
  !/\.(?:resolves|rejects|poll|toMatchFileSnapshot)\b/.test(node.getText())

const isAssignment = ({ kind }: ts.Node) =>
  kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment

/** The values that a statement leaves behind. */
function leftBy(expression: ts.Expression): ts.Expression[] {
  if (ts.isAwaitExpression(expression)) return []
  if (ts.isParenthesizedExpression(expression) || ts.isVoidExpression(expression))
    return leftBy(expression.expression)
  if (ts.isConditionalExpression(expression))
    return [expression.whenTrue, expression.whenFalse].flatMap(leftBy)
  if (!ts.isBinaryExpression(expression)) return [expression]
  const { left, right, operatorToken } = expression
  return isAssignment(operatorToken) ? [] : [left, right].flatMap(leftBy)
}

/** Whether the expression attaches what hears of a failure. */
function isHeard(expression: ts.Expression): boolean {
  if (!ts.isCallExpression(expression) || !ts.isPropertyAccessExpression(expression.expression)) return false
  const { name, expression: before } = expression.expression
  if (name.text === 'finally') return isHeard(before)
  const needed = new Map([
    ['catch', 1],
    ['then', 2],
  ]).get(name.text)
  return needed !== undefined && expression.arguments.length >= needed
}

const callsOf = (type: ts.Type): ts.Type[] =>
  (type.isUnion() ? type.types : [type]).flatMap((each) =>
    each.getCallSignatures().map((signature) => signature.getReturnType()),
  )

/** What takes the compiler no time to tell. */
function mayBeFunction(given: ts.Expression): boolean {
  if (!ts.isArrowFunction(given)) return ts.isIdentifier(given) || ts.isPropertyAccessExpression(given)
  const isAsync = given.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) ?? false
  return isAsync || ts.isCallExpression(given.body) || ts.isConditionalExpression(given.body)
}

/** Whether a function is given, of which nothing is wanted back, and which gives a promise. */
function isUnwanted(given: ts.Expression): boolean {
  if (!mayBeFunction(given)) return false
  if (!callsOf(checker.getTypeAtLocation(given)).some(isPromise)) return false
  const wanted = checker.getContextualType(given)
  const back = wanted ? callsOf(wanted) : []
  return back.length > 0 && back.every(({ flags }) => (flags & ts.TypeFlags.Void) !== 0)
}

/** Whether the promise is a statement's own, which a transaction has given its handler: none that was made of it. */
function isStatement(expression: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(expression)) return isStatement(expression.expression)
  if (ts.isConditionalExpression(expression))
    return isStatement(expression.whenTrue) && isStatement(expression.whenFalse)
  if (ts.isIdentifier(expression)) {
    const declared = checker.getSymbolAtLocation(expression)?.valueDeclaration
    return declared !== undefined && ts.isVariableDeclaration(declared) && isStatement(declared.initializer!)
  }
  if (!ts.isCallExpression(expression)) return false
  const called = expression.expression
  if (ts.isPropertyAccessExpression(called) && called.name.text === 'query')
    return isTransaction(called.expression)
  if (called.getText() === 'Promise.resolve') return true
  const declared = checker.getResolvedSignature(expression)?.declaration
  return expression.arguments.every(isTransaction) && declared !== undefined && givesStatements(declared)
}

/** A pool's statements have no handler. What is no database at all is none of a pool's either. */
const isTransaction = (expression: ts.Expression): boolean =>
  checker.getTypeAtLocation(expression).getProperty('transaction') === undefined

const known = new Map<ts.Node, boolean>()

function givesStatements(declared: ts.Node): boolean {
  const earlier = known.get(declared)
  if (earlier !== undefined) return earlier
  if (!ts.isFunctionDeclaration(declared) && !ts.isArrowFunction(declared)) return false
  const isAsync = declared.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) ?? false
  const { body } = declared
  const given = body && ts.isBlock(body) ? returnedBy(body) : body ? [body] : []
  const result = !isAsync && given.length > 0 && given.every(isStatement)
  known.set(declared, result)
  return result
}

function returnedBy(body: ts.Node): ts.Expression[] {
  const returned: ts.Expression[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isReturnStatement(node) && node.expression) returned.push(node.expression)
    if (!ts.isFunctionLike(node)) ts.forEachChild(node, visit)
  }
  ts.forEachChild(body, visit)
  return returned
}

/** @param strict whether functions count too, of which nothing is wanted back: in tests their failure fails the run. */
function findUnheard(file: ts.SourceFile, strict: boolean): ts.Node[] {
  const found: ts.Node[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isExpressionStatement(node) && !isPlainExpectation(node)) {
      const left = leftBy(node.expression)
      found.push(...left.filter((each) => holdsPromise(checker.getTypeAtLocation(each)) && !isHeard(each)))
    }
    if (ts.isArrowFunction(node) && ts.isVoidExpression(node.body)) {
      if (leftBy(node.body).some((each) => holdsPromise(checker.getTypeAtLocation(each)) && !isHeard(each)))
        found.push(node)
    }
    if (ts.isCallExpression(node)) {
      if (node.expression.getText() === 'pipelined')
        found.push(...node.arguments.filter((each) => !isStatement(each)))
      if (strict) found.push(...node.arguments.filter(isUnwanted))
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

const placeOf = (node: ts.Node): string => {
  const file = node.getSourceFile()
  return `${relative(ROOT, file.fileName)}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
}

test('each fault of a sample is found, and nothing beside them', { timeout }, () => {
  const found = findUnheard(project.getSourceFile(SAMPLE_FILE)!, true)
  const marked = SAMPLE.split('\n').flatMap((line, index) =>
    line.endsWith('// unheard') ? `${relative(ROOT, SAMPLE_FILE)}:${index + 1}` : [],
  )
  expect([...new Set(found.map(placeOf))]).toEqual(marked)
})

test.each(['runtime', 'generators', 'versions', 'test'])(
  'no promise of %s fails unheard',
  { timeout },
  (room) => {
    const files = project
      .getSourceFiles()
      .filter(({ fileName }) => fileName.startsWith(`${join(ROOT, room)}/`) && fileName !== SAMPLE_FILE)
    expect(files.flatMap((file) => findUnheard(file, room !== 'test')).map(placeOf)).toEqual([])
    expect(files).not.toEqual([])
  },
)
