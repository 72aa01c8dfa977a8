/** A project that has installed a built client package, and nothing else of ours. */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'
import { builtOnce } from '../support/built-once.ts'

const PACKAGE = 'generated/client'

/** What programs of readers import beside it, and what that imports. */
const BESIDE = [
  'openapi-fetch',
  'openapi-typescript-helpers',
  'ajv-formats',
  'fastest-levenshtein',
  'express',
  'fastify',
  'hono',
  'oauth4webapi',
  '@types',
  'undici-types',
  'ts-morph',
]

/** @returns the folder with the built package. */
function build(source: string): string {
  const sources = globSync(`${source}/{*.json,src/**/*.ts}`)
  return builtOnce('client', sources, (folder) => {
    const outputs = {
      'tsconfig.json': folder,
      'tsconfig.cjs.json': join(folder, 'cjs'),
      'tsconfig.upgrade.json': folder,
    }
    for (const [config, output] of Object.entries(outputs))
      execFileSync(process.execPath, [
        resolve('node_modules/typescript/bin/tsc'),
        ...['-p', `${source}/${config}`, '--outDir', output],
      ])
    writeFileSync(join(folder, 'cjs/package.json'), '{ "type": "commonjs" }')
  })
}

/**
 * A folder for programs of readers. The caller removes it.
 *
 * @param source the generated package.
 */
export function installClient(source = PACKAGE): string {
  const project = mkdtempSync(join(tmpdir(), 'dateline-downstream-'))
  const modules = join(project, 'node_modules')
  const { name } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { readonly name: string }
  const installed = join(modules, name)
  mkdirSync(installed, { recursive: true })
  for (const file of ['package.json', 'upgrade.json']) cpSync(join(source, file), join(installed, file))
  cpSync(build(source), join(installed, 'dist'), { recursive: true })
  for (const name of BESIDE) symlinkSync(resolve('node_modules', name), join(modules, name))
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  return project
}

/** Writes the files and compiles them as one program. @returns messages by file, for those that have any. */
export function compileIn(
  project: string,
  files: Readonly<Record<string, string>>,
): ReadonlyMap<string, readonly string[]> {
  const names = Object.keys(files).map((name) => join(project, name))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), text)
  }
  const program = ts.createProgram(names, {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(project, 'node_modules/@types')],
  })
  const found = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => ({
    name: file?.fileName.slice(project.length + 1) ?? '',
    message: ts.flattenDiagnosticMessageText(messageText, ' '),
  }))
  const byName = Map.groupBy(found, ({ name }) => name)
  return new Map([...byName].map(([name, each]) => [name, each.map(({ message }) => message)]))
}
