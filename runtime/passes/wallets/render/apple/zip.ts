import { crc32 } from 'node:zlib'

/** A file in an archive. The name must be ASCII. */
export interface ZipEntry {
  readonly name: string
  readonly content: Buffer
}

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
const VERSION = 20
/** 1 January 1980, the earliest ZIP date. A fixed date makes archives reproducible. */
const DATE = (1 << 5) | 1

/**
 * Creates a ZIP archive without compression (APPNOTE 6.3.10): images are compressed already, and the other files are
 * small. Supports fewer than 65,536 files and less than 4 GiB.
 */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content } of entries) {
    const facts = factsOf(name, content)
    const local = Buffer.alloc(4)
    local.writeUInt32LE(LOCAL)
    parts.push(local, facts, Buffer.from(name), content)
    directory.push(centralHeader(facts, offset), Buffer.from(name))
    offset += local.length + facts.length + name.length + content.length
  }
  const central = Buffer.concat(directory)
  return Buffer.concat([...parts, central, endRecord(entries.length, central.length, offset)])
}

/** Returns the fields that the local header and the directory entry of a file share. */
function factsOf(name: string, content: Buffer): Buffer {
  const facts = Buffer.alloc(26)
  facts.writeUInt16LE(VERSION, 0)
  facts.writeUInt16LE(DATE, 8)
  facts.writeUInt32LE(crc32(content), 10)
  facts.writeUInt32LE(content.length, 14)
  facts.writeUInt32LE(content.length, 18)
  facts.writeUInt16LE(name.length, 22)
  return facts
}

function centralHeader(facts: Buffer, offset: number): Buffer {
  const head = Buffer.alloc(6)
  head.writeUInt32LE(CENTRAL, 0)
  head.writeUInt16LE(VERSION, 4)
  const tail = Buffer.alloc(14)
  tail.writeUInt32LE(offset, 10)
  return Buffer.concat([head, facts, tail])
}

function endRecord(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(END, 0)
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(size, 12)
  end.writeUInt32LE(offset, 16)
  return end
}
