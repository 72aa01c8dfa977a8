import { accessSync, constants, readFileSync, statfsSync } from 'node:fs'

const PLACE = '/dev/shm'

/** Maximum space that a full test run needs, with a margin, in bytes. */
const ROOM = 4 * 2 ** 30

/**
 * Tests create and drop hundreds of databases, and on a disk the file system takes more time for this than PostgreSQL.
 *
 * @returns a folder in memory, if the system has one that allows executables and has enough space; otherwise undefined.
 */
export function folderInMemory(): string | undefined {
  try {
    accessSync(PLACE, constants.W_OK)
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .find((line) => line.split(' ')[1] === PLACE)
    const { bavail, bsize } = statfsSync(PLACE)
    const room = Math.min(bavail * bsize, process.availableMemory())
    return mount !== undefined && !/\bnoexec\b/.test(mount) && room > ROOM ? PLACE : undefined
  } catch {
    return undefined // this system has no such folder
  }
}
