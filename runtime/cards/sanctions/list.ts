/** The sanctions list that a process screens against. */
import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BrokenRecord, type ListEntry, type OfacFiles, readOfac } from './ofac.ts'

export interface SanctionsList {
  /** What alerts call it. */
  readonly name: string
  /** Of the contents and of how names are compared alone: the same on every node that has the same files. */
  readonly version: string
  readonly entries: readonly ListEntry[]
  /** Records that are passed over because they cannot be read. */
  readonly broken: readonly BrokenRecord[]
}

/** Raised when a matcher finds more than the one before: to those who were screened it is another list, and they are screened anew. */
const MATCHER_REVISION = 3

/** Invented people and companies, for sandboxes and tests. */
const TEST_LIST = fileURLToPath(new URL('test-list', import.meta.url))

/**
 * Reads a list.
 *
 * @param path a folder with `sdn.csv`, `alt.csv`, `add.csv` and `sdn_comments.csv`, or the first of them with the others beside it; undefined: the
 *   test list. Throws where there is no such list or it is in another format.
 */
export async function readList(path: string | undefined): Promise<SanctionsList> {
  const files = await readFiles(path ?? TEST_LIST)
  const digest = createHash('sha256')
    .update(JSON.stringify([files, MATCHER_REVISION]))
    .digest('hex')
    .slice(0, 12)
  const broken: BrokenRecord[] = []
  const entries = await readOfac(files, broken)
  if (entries.length === 0) throw new Error('the sanctions list has no entries')
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
  if (sdn === '') throw new Error(`${folder} has no sdn.csv`)
  const [alt, add, comments] = [await read('alt.csv'), await read('add.csv'), await read('sdn_comments.csv')]
  return { sdn, alt, add, comments }
}

/** When the files of a list were last written, to see that they have changed: milliseconds since the epoch. */
export async function readListTime(path: string | undefined): Promise<number> {
  if (path === undefined) return 0
  const isFolder = (await stat(path)).isDirectory()
  const folder = isFolder ? path : dirname(path)
  const files = (await readdir(folder)).filter((file) => /\.csv$/i.test(file))
  const times = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).mtimeMs))
  return Math.max(0, ...times)
}
