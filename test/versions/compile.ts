/** Files that only a test has, as one program: checking them one by one would start the compiler as often. */
import ts from 'typescript'

const OPTIONS: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: [],
  lib: ['lib.es2024.d.ts'],
  skipLibCheck: true,
}

/** @param files by absolute path, in front of those of the disk. */
export function programOf(files: ReadonlyMap<string, string>): ts.Program {
  // Files that only a test has may be in folders that only a test has.
  const { directoryExists: _, ...host } = ts.createCompilerHost(OPTIONS)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (file) => files.has(file) || fileExists(file)
  host.readFile = (file) => files.get(file) ?? readFile(file)
  host.getSourceFile = (file, language) => {
    const text = files.get(file)
    return text === undefined ? getSourceFile(file, language) : ts.createSourceFile(file, text, language)
  }
  return ts.createProgram([...files.keys()], OPTIONS, host)
}
