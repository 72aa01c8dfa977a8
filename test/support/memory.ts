import { accessSync, constants, readFileSync, statfsSync } from 'node:fs'

const PLACE = '/dev/shm'

/** What a run of all tests needs at most, with room to spare, in bytes. */
const ROOM = 4 * 2 ** 30

/**
 * Databases are made and dropped by the hundred, which costs a disk's file system more than PostgreSQL.
 *
 * @returns a folder in memory, where the system has one that may run programs and has room; undefined elsewhere.
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
    return undefined // another system
  }
}
