/** The toolkit's own text files, which emitters build upon: read once, as if they were imported. (I/O) */
import { readdirSync, readFileSync } from 'node:fs'

const root = new URL('../', import.meta.url)

/** @param path relative to the toolkit's own folder. @returns the file's text. */
export function readAsset(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}

/** @returns the names of the files in a folder, in code unit order. */
export function listAssets(folder: string): string[] {
  return readdirSync(new URL(`${folder}/`, root)).sort()
}

/** @returns the text of a file of a package that the toolkit depends on. @param main what its package's `import` ends in. */
export function readPackageFile(name: string, main: string, path: string): string {
  const entry = import.meta.resolve(name)
  if (!entry.endsWith(main)) throw new Error(`the package ${name} has no ${main} any more`)
  return readFileSync(new URL(entry.slice(0, -main.length) + path), 'utf8')
}
