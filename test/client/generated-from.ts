/** A client made of a document: generated as `dateline generate` does it, compiled with a program of its caller, and loaded. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { main } from '../../generators/cli.ts'
import type { ClientOptions } from '../../generators/client-runtime/connect.ts'
import type { Diagnostic } from '../../generators/diagnostics/diagnostic.ts'
import type { EmitterName } from '../../generators/generate/config.ts'

/** Loose on purpose: the types are compiled with `program`. */
export type AnyClient = Readonly<
  Record<string, (input?: Readonly<Record<string, unknown>>) => Promise<unknown>>
>

export interface GeneratedClient {
  /** The folder of the output. */
  readonly out: string
  readonly findings: readonly Diagnostic[]
  readonly createClient: (options: ClientOptions) => AnyClient
  /** Text of a file of the output. */
  read(path: string): string
  /** Messages of the compiler, each with its line of `program`. */
  compile(program: string): readonly string[]
  remove(): void
}

/** @param document OpenAPI as an object, of version 2030-01-01. @param further what is emitted beside the client. */
export async function generateClient(
  document: object,
  further: readonly EmitterName[] = [],
): Promise<GeneratedClient> {
  const folder = mkdtempSync(resolve('test/client/.generated-'))
  writeFileSync(join(folder, '2030-01-01.json'), JSON.stringify(document))
  writeFileSync(
    join(folder, 'dateline.config.json'),
    JSON.stringify({
      documents: ['./2030-01-01.json'],
      out: './out',
      emit: ['client', ...further],
      client: { package: { name: 'made', version: '1.0.0' } },
      strict: false,
    }),
  )
  const lines: string[] = []
  const argv = ['--config', join(folder, 'dateline.config.json'), 'generate', '--json']
  const code = await main(argv, { out: (line) => lines.push(line), error: (line) => lines.push(line) })
  const { findings } = JSON.parse(lines.join('\n')) as { findings: Diagnostic[] }
  if (code !== 0) throw new Error(lines.join('\n'))
  const version = join(folder, 'out/client/src/2030-01-01')
  const [{ connect }, { flatMethods }] = await Promise.all([
    import(join(version, 'index.ts')),
    import(join(version, 'flat.ts')),
  ])
  return {
    out: join(folder, 'out'),
    findings,
    createClient: (options) => flatMethods(connect(options)),
    read: (path) => readFileSync(join(folder, 'out', path), 'utf8'),
    compile: (program) => compile(folder, program),
    remove: () => rmSync(folder, { recursive: true }),
  }
}

function compile(folder: string, text: string): string[] {
  const file = join(folder, 'out/program.ts')
  mkdirSync(join(folder, 'out'), { recursive: true })
  writeFileSync(file, text)
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
    types: [],
  })
  return ts.getPreEmitDiagnostics(program).map(({ file: at, start = 0, messageText }) => {
    const line = at ? at.getLineAndCharacterOfPosition(start).line : 0
    const text = ts.flattenDiagnosticMessageText(messageText, ' ')
    const shown = at?.fileName === file ? (at.text.split('\n')[line]?.trim() ?? '') : (at?.fileName ?? '')
    return `${shown}: ${text}`
  })
}
