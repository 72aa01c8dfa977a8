/** What generated files must do without anything around them: type-check under --strict, and load. */
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2024.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  allowImportingTsExtensions: true,
  noEmit: true,
  skipLibCheck: false,
  skipDefaultLibCheck: true,
}

/** @returns the files below a folder whose names end so, with the folder. */
export function filesBelow(folder: string, end: RegExp): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && end.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

const host = ts.createCompilerHost(OPTIONS)
const { getSourceFile } = host
/** Declarations of the language and of packages, which programs with the same options can share. */
const declarations = new Map<string, ts.SourceFile | undefined>()
host.getSourceFile = (file, ...how) => {
  if (!/\/node_modules\/.*\.d\.ts$/.test(file)) return getSourceFile(file, ...how)
  if (!declarations.has(file)) declarations.set(file, getSourceFile(file, ...how))
  return declarations.get(file)
}

/** @returns what the compiler says of all TypeScript below a folder: nothing when all is well. */
export function typeErrors(folder: string): string[] {
  const program = ts.createProgram(filesBelow(folder, /\.ts$/), OPTIONS, host)
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      (each) =>
        `${each.file?.fileName ?? ''}:${each.start ?? 0} ${ts.flattenDiagnosticMessageText(each.messageText, '\n')}`,
    )
}

export type Validators = Readonly<Record<string, (value: unknown) => boolean>>

/** @returns the checks of a version, by the names they are exported under. */
export async function loadValidators(folder: string, version: string): Promise<Validators> {
  return (await import(
    /* @vite-ignore */ pathToFileURL(resolve(folder, version, 'validators.js')).href
  )) as Validators
}
