/** Reads evidence documents and checks their actual content type. */
import { createHash } from 'node:crypto'
import type { Detail } from 'dateline/runtime'
import type { components } from '../../../generated/canonical/types.ts'
import { validationFailed } from '../../api/errors/errors.ts'

type Schemas = components['schemas']

/** A document's content and its API representation. */
export interface ReadFile {
  readonly shown: Schemas['EvidenceFile']
  readonly content: Buffer
}

/**
 * Decodes evidence documents. Throws `validation_failed` for content that is not base64, or whose detected type differs from
 * `content_type`. The schema and the body size limit bound the size.
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
  if (content.toString('base64') !== text) return 'is not valid base64'
  const { fileTypeFromBuffer } = await import('file-type') // loaded on first use: it has many modules, and few processes need it
  const found = (await fileTypeFromBuffer(content))?.mime
  return found === type ? undefined : `is ${found ?? 'of an unknown type'}; expected ${type}`
}
