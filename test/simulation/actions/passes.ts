/** What a merchant knows of its passes. */
import { mustEqual } from '../checks/evidence.ts'
import type { Answer } from '../client.ts'
import type { Merchant } from '../merchant.ts'

/** Notes a new pass. */
export function passMade({ passes, files, changes }: Merchant, { status, body }: Answer): void {
  mustEqual(status, 201, 'the answer to a new pass')
  passes.push(body.id)
  files.set(body.id, body.download.apple_url)
  changes.push({ environment: 'live', type: 'pass.created', body })
}
