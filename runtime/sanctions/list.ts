/** The sanctions list that a process screens against. */
import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ListEntry, type OfacFiles, readOfac } from './ofac.ts'

export interface SanctionsList {
  /** What alerts call it. */
  readonly name: string
  /** Of the contents alone: the same on every node that has the same files. */
  readonly version: string
  readonly entries: readonly ListEntry[]
}

/** Invented people and companies, for sandboxes and tests. */
const TEST_LIST = fileURLToPath(new URL('test-list', import.meta.url))

/**
 * Reads a list.
 *
 * @param path a folder with `sdn.csv`, `alt.csv` and `add.csv`, or the first of them with the others beside it; undefined: the
 *   test list. Throws where there is no such list or it is in another format.
 */
export async function readList(path: string | undefined): Promise<SanctionsList> {
  const files = await readFiles(path ?? TEST_LIST)
  const digest = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 12)
  const entries = await readOfac(files)
  if (entries.length === 0) throw new Error('the sanctions list has no entries')
  return path === undefined
    ? { name: 'Test list', version: `test-${digest}`, entries }
    : { name: 'OFAC SDN', version: `sdn-${digest}`, entries }
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
  return { sdn, alt: await read('alt.csv'), add: await read('add.csv') }
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
