/** Files and folders of the repository that its texts name: they exist. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { matchesGlob } from 'node:path'
import { expect, test } from 'vitest'

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => existsSync(file))

/** Texts that people read. Golden files are written by programs, and a changelog names what no longer exists. */
const texts = tracked.filter(
  (file) =>
    /\.(ts|js|md|sql|yaml|json)$/.test(file) &&
    !/^(test\/golden\/|generated\/|package-lock|CHANGELOG)/.test(file),
)

/** Examples in texts, and files that a test or a build writes. */
const ELSEWHERE = [
  'dateline.config.ts',
  'openapi/2026-09-01.yaml',
  'generated/site',
  'test/migrations',
  'generated/*/openapi.json',
  'generated/client/dist',
  'openapi/2030-01-01.yaml',
  'openapi/2030-06-01.yaml',
  'versions/2030-06-01',
  'versions/DATE',
  'V1/types.ts',
  'v1/types.ts',
]

const entries = new Set(
  tracked.flatMap((file) => file.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'))),
)

/** A name of a file that a text may shorten: `engine/frame.ts` is in `runtime/dashboard`. */
const endings = new Set(
  [...entries].flatMap((entry) => entry.split('/').map((_, index, parts) => parts.slice(index).join('/'))),
)

const FROM_THE_ROOT =
  /(?<![\w@./-])(?:runtime|generators|test|docs|openapi|versions|generated)(?:\/[\w.*-]+)+/g
const SHORTENED = /(?<=`)(?:[\w.-]+\/)*[\w-][\w.-]*(?:\.(?:ts|sql|md|html)|\/)(?=`)/g

/** Tests write projects of their own, whose files their code names: only the comments of a test are texts. */
function textOf(file: string): string {
  const text = readFileSync(file, 'utf8')
  if (!file.startsWith('test/') || !/\.[jt]s$/.test(file)) return text
  return text.replaceAll(/^(?!\s*(?:\/?\*|\/\/)).*?((?:\s\/\/.*)?)$/gm, '$1')
}

const isElsewhere = (name: string) => ELSEWHERE.some((each) => name === each || name.startsWith(`${each}/`))

function findMissing(file: string, text: string): string[] {
  const rooted = [...text.matchAll(FROM_THE_ROOT)].map(([name]) => name.replace(/[./]+$/, ''))
  const shortened = /\.(?:ts|js|md|sql)$/.test(file)
    ? [...text.matchAll(SHORTENED)].map(([name]) => name.replace(/\/$/, ''))
    : []
  const missing = [
    ...rooted.filter((name) =>
      name.includes('*') ? !entries.values().some((each) => matchesGlob(each, name)) : !entries.has(name),
    ),
    ...shortened.filter((name) => !endings.has(name)),
  ]
  return missing.filter((name) => !isElsewhere(name)).map((name) => `${file}: ${name}`)
}

test('a text of the repository names only files that exist', () => {
  expect(
    findMissing('a.md', 'See `generators/cli.ts`, `engine/frame.ts` and runtime/no-such-file.ts.'),
  ).toEqual(['a.md: runtime/no-such-file.ts'])
  expect(texts.flatMap((file) => findMissing(file, textOf(file)))).toEqual([])
})
