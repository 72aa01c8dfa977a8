import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { readSpace } from '../platform/database/space.ts'
import { deviceOf } from '../wallet/page/buttons.ts'
import { type PassPage, writeMissingPage, writePassPage } from '../wallet/page/page.ts'
import type { PassState } from '../wallet/pass-state.ts'
import type { Barcodes } from './barcodes.ts'
import { isUnchanged, validatorHeaders } from './conditions.ts'

/** What a page depends on beside the pass. */
export interface PageRequest {
  readonly headers: IncomingHttpHeaders
  /** Where the pass is saved to Google Wallet. */
  readonly googleUrl: string
  /** Whether it was asked of the sandbox. */
  readonly isTest: boolean
}

export interface PageAnswer {
  readonly status: 200 | 304 | 404
  /** Names and values in turn. */
  readonly headers: readonly string[]
  /** Empty with 304. */
  readonly body: Buffer
}

/** The page of a pass, in the order of wallets of the holder's device. @throws `unavailable` when too many are asked for. */
export async function answerPassPage(
  state: PassState,
  { headers, googleUrl, isTest }: PageRequest,
  barcodes: Pick<Barcodes, 'draw'>,
): Promise<PageAnswer> {
  const barcode = await barcodes.draw(readSpace(state.place.space).tenantId, state.barcode)
  const page = writePassPage(state, { barcode, device: deviceOf(headers['user-agent']), googleUrl, isTest })
  const body = Buffer.from(page.html)
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`
  const validators = { etag, lastModified: state.changed }
  const unchanged = isUnchanged(headers, validators)
  return {
    status: unchanged ? 304 : 200,
    headers: [...describe(page), ...validatorHeaders(validators), 'Vary', 'User-Agent'],
    body: unchanged ? Buffer.alloc(0) : body,
  }
}

const missing = writeMissingPage()

/** One answer for all addresses that are no pass's: it says nothing of what was wrong. */
export const MISSING_PAGE: PageAnswer = {
  status: 404,
  headers: [...describe(missing), 'Cache-Control', 'no-store'],
  body: Buffer.from(missing.html),
}

/** The address is a secret: it is told to nobody, the page is found by nobody, and it stands in no other page. */
function describe({ contentSecurityPolicy }: PassPage): string[] {
  return [
    'Content-Type',
    'text/html; charset=utf-8',
    'Content-Security-Policy',
    contentSecurityPolicy,
    'Cross-Origin-Opener-Policy',
    'same-origin',
    'Referrer-Policy',
    'no-referrer',
    'X-Content-Type-Options',
    'nosniff',
    'X-Frame-Options',
    'DENY',
    'X-Robots-Tag',
    'noindex, nofollow, noarchive',
  ]
}
