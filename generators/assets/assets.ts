/** The toolkit's own text files, which emitters use. They are read from disk once, when the emitter is imported. */
import { readdirSync, readFileSync } from 'node:fs'

const root = new URL('../', import.meta.url)

/**
 * Reads a text file of the toolkit.
 *
 * @param path relative to the toolkit's folder.
 */
export function readAsset(path: string): string {
  return readFileSync(new URL(path, root), 'utf8')
}

/** Lists the files of a folder, in code unit order. */
export function listAssets(folder: string): string[] {
  return readdirSync(new URL(`${folder}/`, root)).sort()
}

/**
 * Reads a text file of a package that the toolkit depends on.
 *
 * @param main the end of the package's entry path.
 * @throws if the package has a different entry.
 */
export function readPackageFile(name: string, main: string, path: string): string {
  const entry = import.meta.resolve(name)
  if (!entry.endsWith(main))
    throw new Error(
      `the package ${name} no longer has the entry file ${main}: install the version from package-lock.json`,
    )
  return readFileSync(new URL(entry.slice(0, -main.length) + path), 'utf8')
}
