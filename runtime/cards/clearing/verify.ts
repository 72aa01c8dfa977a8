/** Verifies a clearing file as a whole, before anything of it is applied. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import type { FileFormat } from './format.ts'
import {
  amountsOf,
  ClearingFileError,
  type FileHeader,
  type FileTrailer,
  readHeader,
  readTrailer,
} from './records.ts'

const CHUNK = 1 << 20

/** Reads the bytes of a file from a position. */
export function readBytes(path: string, start = 0): AsyncIterable<Buffer> {
  return createReadStream(path, { start, highWaterMark: CHUNK })
}

/** A file whose checksum and control totals are right. */
export interface VerifiedFile {
  readonly header: FileHeader
  readonly headerBytes: Buffer
  readonly trailer: FileTrailer
  /** Position of the first record, in bytes. */
  readonly start: number
}

/**
 * Reads the file once in bounded memory, and compares its checksum, its number of records and its sums with the trailer. The
 * sums of a file with unreadable amounts must not exceed those of the trailer. Throws `ClearingFileError`.
 */
export async function verifyFile(path: string, format: FileFormat): Promise<VerifiedFile> {
  const hash = createHash('sha256')
  let header: FileHeader | undefined
  let headerBytes: Buffer = Buffer.alloc(0)
  let trailer: FileTrailer | undefined
  let [records, clearings, refunds, unreadable] = [0, 0n, 0n, 0]
  for await (const part of format.read(readBytes(path))) {
    if (trailer)
      throw new ClearingFileError('The file continues after its trailer. Ask the network for the file again.')
    if (part.type === 'trailer') {
      trailer = readTrailer(part.trailer)
      continue
    }
    hash.update(part.bytes)
    if (part.type === 'filling') continue
    if (!header) {
      header = readHeader(part.type === 'header' ? part.header : {})
      headerBytes = part.bytes
      continue
    }
    records += 1
    const amounts = amountsOf(part)
    clearings += amounts?.clearings ?? 0n
    refunds += amounts?.refunds ?? 0n
    if (!amounts) unreadable += 1
  }
  if (!header) throw new ClearingFileError('The file is empty. Ask the network for the file again.')
  if (!trailer)
    throw new ClearingFileError(
      'The file ends without a trailer, so it is not complete. Copy it again, or ask the network for it.',
    )
  const found = hash.digest('hex')
  if (found !== trailer.sha256)
    throw new ClearingFileError(
      `The checksum of the file is ${found}, and its trailer says ${trailer.sha256}. Copy the file again, or ask the network for it.`,
    )
  const differs = (name: string, has: bigint, says: bigint) =>
    (unreadable === 0 ? has !== says : has > says) && `${name} ${has}, and the trailer says ${says}`
  const faults = [
    records !== trailer.records &&
      `the number of records is ${records}, and the trailer says ${trailer.records}`,
    differs('the sum of clearings is', clearings, trailer.clearings),
    differs('the sum of refunds is', refunds, trailer.refunds),
  ].filter((fault) => fault !== false)
  if (faults.length > 0)
    throw new ClearingFileError(
      `The control totals do not match: ${faults.join('; ')}. Ask the network for a corrected file.`,
    )
  return { header, headerBytes, trailer, start: headerBytes.length }
}
