/** Parses samples by the grammars of tree-sitter, so that languages are checked whose compilers are not installed. */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

/** Grammars and parser as WebAssembly. They take 22 MB, so npm installs them only for `npm run prove:samples`. */
const PACKAGE = '@vscode/tree-sitter-wasm'
const VERSION = '0.3.1'
const FOLDER = resolve('node_modules/.cache/sample-grammars')

interface TreeSitter {
  readonly Parser: {
    new (): {
      setLanguage(language: object): void
      parse(text: string): { readonly rootNode: { readonly hasError: boolean } }
    }
    init(): Promise<void>
  }
  readonly Language: { load(file: string): Promise<object> }
}

/** @returns the texts that are not programs of the language. */
export async function findUnparsed(language: 'c-sharp' | 'go' | 'java', texts: readonly string[]) {
  mkdirSync(FOLDER, { recursive: true })
  const words = ['install', '--prefix', FOLDER, '--ignore-scripts', '--no-audit', '--no-fund', '--silent']
  execFileSync('npm', [...words, `${PACKAGE}@${VERSION}`], { stdio: ['ignore', 'ignore', 'inherit'] })
  const folder = join(FOLDER, 'node_modules', PACKAGE, 'wasm')
  const { Parser, Language } = createRequire(import.meta.url)(join(folder, 'tree-sitter.js')) as TreeSitter
  await Parser.init()
  const parser = new Parser()
  parser.setLanguage(await Language.load(join(folder, `tree-sitter-${language}.wasm`)))
  return texts.filter((text) => parser.parse(text).rootNode.hasError)
}
