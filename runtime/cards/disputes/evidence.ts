/** Documents that speak for a dispute: what they really are, not what they are called. */
import { createHash } from 'node:crypto'
import type { Detail } from 'dateline/runtime'
import type { components } from '../../../generated/canonical/types.ts'
import { validationFailed } from '../../api/errors/errors.ts'

type Schemas = components['schemas']

/** A document, and how it is shown. */
export interface ReadFile {
  readonly shown: Schemas['EvidenceFile']
  readonly content: Buffer
}

/**
 * Reads documents as they were sent. Throws 422 by field: where the content is no base64, or of another type than it is called.
 * How much it may be, the schema says and the limit of a body.
 */
export async function readFiles(given: readonly Schemas['EvidenceFileInput'][]): Promise<ReadFile[]> {
  const faults: Detail[] = []
  const files: ReadFile[] = []
  for (const [index, { name, content_type, content: text }] of given.entries()) {
    const content = Buffer.from(text, 'base64')
    const issue = await faultOf(content, text, content_type)
    if (issue !== undefined) faults.push({ field: `evidence.files[${index}].content`, issue })
    const sha256 = createHash('sha256').update(content).digest('hex')
    files.push({ shown: { name, content_type, size: content.length, sha256 }, content })
  }
  if (faults.length > 0) throw validationFailed(faults)
  return files
}

async function faultOf(content: Buffer, text: string, type: string): Promise<string | undefined> {
  if (content.toString('base64') !== text) return 'is not base64'
  const { fileTypeFromBuffer } = await import('file-type') // what few processes need, of many modules
  const found = (await fileTypeFromBuffer(content))?.mime
  return found === type ? undefined : `is ${found ?? 'of no known type'}, not ${type}`
}
