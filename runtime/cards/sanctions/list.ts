/** Reads the sanctions list that a process screens against. */
import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BrokenRecord, type ListEntry, type OfacFiles, readOfac } from './ofac.ts'

export interface SanctionsList {
  /** Name of the list in alerts. */
  readonly name: string
  /** Hash of the contents and of the matching rules only, so it is equal on all nodes with the same files. */
  readonly version: string
  readonly entries: readonly ListEntry[]
  /** Records that were skipped because they cannot be read. */
  readonly broken: readonly BrokenRecord[]
}

/** Increase this when the matcher finds more matches. The list then counts as new, so all cardholders are screened again. */
const MATCHER_REVISION = 3

/** Fictional people and companies, for sandboxes and tests. */
const TEST_LIST = fileURLToPath(new URL('test-list', import.meta.url))

/**
 * Reads a sanctions list. Throws if there is no list or if it has a different format.
 * @param path a folder with `sdn.csv`, `alt.csv`, `add.csv` and `sdn_comments.csv`, or the path of the first file with the
 * others in the same folder; undefined: the built-in test list.
 */
export async function readList(path: string | undefined): Promise<SanctionsList> {
  const files = await readFiles(path ?? TEST_LIST)
  const digest = createHash('sha256')
    .update(JSON.stringify([files, MATCHER_REVISION]))
    .digest('hex')
    .slice(0, 12)
  const broken: BrokenRecord[] = []
  const entries = await readOfac(files, broken)
  if (entries.length === 0) throw new Error('sdn.csv contains no entries. Download the list again.')
  return path === undefined
    ? { name: 'Test list', version: `test-${digest}`, entries, broken }
    : { name: 'OFAC SDN', version: `sdn-${digest}`, entries, broken }
}

async function readFiles(path: string): Promise<OfacFiles> {
  const isFolder = (await stat(path)).isDirectory()
  const folder = isFolder ? path : dirname(path)
  const there = await readdir(folder)
  const read = async (name: string) => {
    const found = there.find((file) => file.toLowerCase() === name)
    return found === undefined ? '' : readFile(join(folder, found), 'utf8')
  }
  const sdn = await (isFolder ? read('sdn.csv') : read(basename(path).toLowerCase()))
  if (sdn === '') throw new Error(`${isFolder ? join(folder, 'sdn.csv') : path} is missing or empty`)
  const [alt, add, comments] = [await read('alt.csv'), await read('add.csv'), await read('sdn_comments.csv')]
  return { sdn, alt, add, comments }
}

/** Returns when the files of a list last changed, in milliseconds since the epoch; 0 for the built-in list. */
export async function readListTime(path: string | undefined): Promise<number> {
  if (path === undefined) return 0
  const isFolder = (await stat(path)).isDirectory()
  const folder = isFolder ? path : dirname(path)
  const files = (await readdir(folder)).filter((file) => /\.csv$/i.test(file))
  const times = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).mtimeMs))
  return Math.max(0, ...times)
}
