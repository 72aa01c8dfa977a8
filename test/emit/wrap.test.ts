/** Long lines of generated code are broken where the language lets them, and nothing but white space is added. */
import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { wrapLines } from '../../generators/print/wrap.ts'

/** What a compiler reads, without white space and comments. */
function tokens(source: string): string[] {
  const file = ts.createSourceFile('wrapped.ts', source, ts.ScriptTarget.Latest, false)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return
    if (node.getChildCount(file) === 0) found.push(node.getText(file))
    else node.getChildren(file).forEach(visit)
  }
  visit(file)
  return found
}

/** Lines that are too long although they could be broken: one word has no place for it. */
const tooLong = (text: string, width: number): string[] =>
  text.split('\n').filter((line) => line.length > width && line.trim().includes(' '))

const cases: readonly { readonly name: string; readonly given: string; readonly want: string }[] = [
  { name: 'a line that fits', given: 'const a = [1, 2, 3]', want: 'const a = [1, 2, 3]' },
  {
    name: 'a list, one item a line',
    given: "const names = ['one', 'two; three', 'four, five']",
    want: "const names = [\n  'one',\n  'two; three',\n  'four, five'\n]",
  },
  {
    name: 'brackets that hold nothing but brackets',
    given: "const names = new Set(['one', 'two', 'three', 'four'])",
    want: "const names = new Set([\n  'one',\n  'two',\n  'three',\n  'four'\n])",
  },
  {
    name: 'a list within a list that is too long itself',
    given: "  call({ a: [111111111, 222222222, 333333333, 444444444], b: 'x' })",
    want: "  call({\n    a: [\n      111111111,\n      222222222,\n      333333333,\n      444444444\n    ],\n    b: 'x'\n  })",
  },
  {
    name: 'brackets in strings and regular expressions',
    given: "const found = test(/[(,]'\\/{2}/.exec(text), '(,', \"),\")",
    want: "const found = test(\n  /[(,]'\\/{2}/.exec(text),\n  '(,',\n  \"),\"\n)",
  },
  {
    name: 'operators outside of brackets',
    given: '  return typeof value === "string" && value.length > 10 && known',
    want: '  return typeof value === "string"\n    && value.length > 10\n    && known',
  },
  {
    name: 'an arrow',
    given: 'export const convertTheValue = value => oneOfTheConverters',
    want: 'export const convertTheValue = value =>\n  oneOfTheConverters',
  },
  {
    name: 'a comment of one line',
    given: '  /** Says more than forty columns can hold of it. */',
    want: '  /**\n   * Says more than forty columns can\n   * hold of it.\n   */',
  },
  {
    name: 'a line that ends in a comment is left',
    given: 'const a = [1, 2] // see (this, that), and that is all',
    want: 'const a = [1, 2] // see (this, that), and that is all',
  },
]

test.each(cases)('a long line of code is wrapped: $name', ({ given, want }) => {
  expect(wrapLines(given, 40)).toBe(want)
})

const generated = [
  '2026-05-19/routes.ts',
  'canonical/handlers.ts',
  'translations/2025-06-01.ts',
  'validators.js',
]

test.each(generated)('wrapped code of %s reads the same at every width', (path) => {
  const source = readFileSync(new URL(`../../generated/${path}`, import.meta.url), 'utf8')
  expect(tooLong(source, 160)).toEqual([])
  const joined = tokens(source)
  expect(joined.length).toBeGreaterThan(400)
  for (const width of [40, 90]) {
    const wrapped = wrapLines(source, width)
    expect(wrapped.split('\n').length).toBeGreaterThan(source.split('\n').length)
    expect(tokens(wrapped)).toEqual(joined)
  }
})
