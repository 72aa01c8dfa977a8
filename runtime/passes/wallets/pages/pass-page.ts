import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { readSpace } from '../../../database/space.ts'
import { deviceOf } from '../render/page/buttons.ts'
import { type PassPage, writeMissingPage, writePassPage } from '../render/page/page.ts'
import type { PassState } from '../render/pass-state.ts'
import type { Barcodes } from './barcodes.ts'
import { type HttpValidators, isUnchanged, validatorHeaders } from './conditions.ts'

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

/** What a page follows from, beside the program and who asks. */
export type PageInputs = Pick<PassState, 'place' | 'organization' | 'pageUrl' | 'changed'>

/** Stands for how this program writes pages: its sources. */
const PROGRAM = createHash('sha256')
for (const name of readdirSync(new URL('../render/page/', import.meta.url)).toSorted())
  PROGRAM.update(readFileSync(new URL(`../render/page/${name}`, import.meta.url)))
const FINGERPRINT = PROGRAM.digest('base64url')

function validatorsOf(
  facts: PageInputs,
  { headers, isTest }: Omit<PageRequest, 'googleUrl'>,
): HttpValidators {
  const { place, organization, pageUrl, changed } = facts
  const parts = [FINGERPRINT, pageUrl, place, organization, changed, isTest, deviceOf(headers['user-agent'])]
  const etag = `"${createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}"`
  return { etag, lastModified: changed }
}

/** 304 where the client has the page already; undefined where it has to be written. */
export function answerUnchanged(
  facts: PageInputs,
  request: Omit<PageRequest, 'googleUrl'>,
): PageAnswer | undefined {
  const validators = validatorsOf(facts, request)
  if (!isUnchanged(request.headers, validators)) return undefined
  return { status: 304, headers: [...validatorHeaders(validators), ...VARY], body: Buffer.alloc(0) }
}

const VARY = ['Vary', 'User-Agent']

/** The page of a pass, in the order of wallets of the holder's device. @throws `unavailable` when too many are asked for. */
export async function answerPassPage(
  state: PassState,
  request: PageRequest,
  barcodes: Pick<Barcodes, 'draw'>,
): Promise<PageAnswer> {
  const { headers, googleUrl, isTest } = request
  const barcode = await barcodes.draw(readSpace(state.place.space).tenantId, state.barcode)
  const page = writePassPage(state, { barcode, device: deviceOf(headers['user-agent']), googleUrl, isTest })
  return {
    status: 200,
    headers: [...describe(page), ...validatorHeaders(validatorsOf(state, request)), ...VARY],
    body: Buffer.from(page.html),
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
