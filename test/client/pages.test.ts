/** What the pages show in TypeScript compiles in a project that has installed the built package, and nothing else of ours. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'

const PAGES = ['README.md', 'generated/client/README.md']

/** What a reader has at hand, under the names that the pages give it. */
const AT_HAND =
  'declare const baseUrl: string, apiKey: string, secret: string, body: string, request: { headers: Headers }\n'

const blocks = PAGES.flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text = '']) => ({
    page,
    text,
  })),
)

let project: string
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'dateline-downstream-'))
  const modules = join(project, 'node_modules')
  const installed = join(modules, '@dateline/passes')
  mkdirSync(installed, { recursive: true })
  mkdirSync(join(modules, '@types'))
  cpSync('generated/client/package.json', join(installed, 'package.json'))
  const build = ['-p', 'generated/client/tsconfig.json', '--outDir', join(installed, 'dist')]
  execFileSync(process.execPath, [resolve('node_modules/typescript/bin/tsc'), ...build])
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers', '@types/node', 'undici-types'])
    symlinkSync(resolve('node_modules', name), join(modules, name))
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
}, 120_000)
afterAll(() => rmSync(project, { recursive: true }))

function compile(text: string): string[] {
  const file = join(project, 'block.ts')
  writeFileSync(file, AT_HAND + text)
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    typeRoots: [join(project, 'node_modules/@types')],
  })
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}

test('there are blocks on each page', () => {
  expect(new Set(blocks.map(({ page }) => page))).toEqual(new Set(PAGES))
})

test.each(blocks)('$page: $text', ({ text }) => {
  expect(compile(text)).toEqual([])
})

test('a call that there is not does not compile', () => {
  const shown = blocks.find(({ text }) => text.includes('createPass('))!.text
  expect(compile(shown.replace('createPass(', 'createPas('))).toEqual([
    expect.stringContaining("Property 'createPas' does not exist"),
  ])
})
