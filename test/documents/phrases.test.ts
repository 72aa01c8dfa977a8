/** Phrases that make readers stumble do not come back: each row says which, and where the word is right all the same. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/** A phrase and, if it can be right, the uses that are. */
const PHRASES: readonly (readonly [phrase: RegExp, right?: RegExp])[] = [
  [/\bwho(ever|soever)\b/i],
  [/\bwhatever\b/i],
  [/\bis none\b/i, /\bthere is none\b/i],
  [/\bso (many|long|much)\b/i],
  // An account of Debian; Node's names of environment variables.
  [/\b(no|some|every)body\b/i, /'nobody'/],
  [/\beveryone\b/i],
  [/\bof whom\b/i],
  // A quantifier before it makes a clause of its own that reads well: "two alternatives, any of which".
  [/\bof which\b/i, /\b(any|all|each|most|one|neither) of which\b/i],
  [/\bstands (in|for|beside)\b/i],
  [/\bunder way\b/i],
  [/\b(has|have) to be put right\b/i],
  [/\b(hears?|tells?|becomes) of\b/i],
  [/\bsays so\b/i],
  [/\bmakes sure of\b/i],
  [/\btakes its place\b/i],
  // "In all versions" names its noun.
  [/\bin all\b/i, /\bin all (of )?\w+/i],
  [/\bgoes on\b/i],
  [/\bcomes to\b/i],
  // A directive of HTML.
  [/\btelephone\b/i, /\btelephone=no\b/],
]

/** Migrations are compared with the hashes of those that were applied, so their texts stay; the others are lists from outside. */
const NOT_OURS = /^runtime\/database\/migrations\/.*\.sql$|\.(csv|tsv|png|svg|ico|woff2?)$/

const ROOTS = [
  'runtime',
  'generators',
  'docs',
  'versions/*.ts',
  'README.md',
  'CONTRIBUTING.md',
  'GLOSSARY.md',
  'CHANGELOG.md',
  'openapi/2026-05-19.yaml',
]

const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...ROOTS],
  {
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((file) => file !== '' && !NOT_OURS.test(file))

function findPhrases(text: string): string[] {
  return text.split('\n').flatMap((line, index) =>
    PHRASES.flatMap(([phrase, right]) => {
      const rest = right ? line.replaceAll(new RegExp(right, `${right.flags}g`), '') : line
      const found = phrase.exec(rest)
      return found ? [`${index + 1}: ${found[0]}`] : []
    }),
  )
}

test('no text of the product has a phrase to avoid', () => {
  const found = files.flatMap((file) =>
    findPhrases(readFileSync(file, 'utf8')).map((each) => `${file}:${each}`),
  )
  expect(found).toEqual([])
  expect(files.length).toBeGreaterThan(900)
})

test('a phrase is found in a line, unless the line uses it rightly', () => {
  expect(findPhrases('Whoever calls\nis under way')).toEqual(['1: Whoever', '2: under way'])
  expect(findPhrases('null if there is none, in all versions')).toEqual([])
  expect(findPhrases('the key is none')).toEqual(['1: is none'])
})
