import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { readSpace } from '../../../database/space.ts'
import { deviceOf } from '../render/page/buttons.ts'
import { type PassPage, writeMissingPage, writePassPage } from '../render/page/page.ts'
import { readWanted } from '../render/page/voice.ts'
import { isVoid, type PassState } from '../render/pass-state.ts'
import { secondsLeft, withCodeAt } from '../render/rotation.ts'
import type { Barcodes } from './barcodes.ts'
import { type HttpValidators, isUnchanged, validatorHeaders } from './conditions.ts'

/** The parts of a request that affect the page. */
export interface PageRequest {
  readonly headers: IncomingHttpHeaders
  /** Save link for Google Wallet. */
  readonly googleUrl: string
  /** Whether the environment is the sandbox. */
  readonly isTest: boolean
  /** Service time, in milliseconds since the epoch. It decides which code a pass shows. */
  readonly now: number
}

export interface PageAnswer {
  readonly status: 200 | 304 | 404
  /** Alternating header names and values. */
  readonly headers: readonly string[]
  /** Empty if the status is 304. */
  readonly body: Buffer
}

/** The parts of a pass state that determine the page. */
export type PageInputs = Pick<PassState, 'place' | 'organization' | 'pageUrl' | 'changed'>

/** Fingerprint of the sources that render pages, so that a new program version changes every entity tag. */
const PROGRAM = createHash('sha256')
for (const name of readdirSync(new URL('../render/page/', import.meta.url)).toSorted())
  PROGRAM.update(readFileSync(new URL(`../render/page/${name}`, import.meta.url)))
const FINGERPRINT = PROGRAM.digest('base64url')

function validatorsOf(
  facts: PageInputs,
  { headers, isTest }: Pick<PageRequest, 'headers' | 'isTest'>,
): HttpValidators {
  const { place, organization, pageUrl, changed } = facts
  const shown = [isTest, deviceOf(headers['user-agent']), wantedBy(headers)]
  const parts = [FINGERPRINT, pageUrl, place, organization, changed, ...shown]
  const etag = `"${createHash('sha256').update(JSON.stringify(parts)).digest('base64url')}"`
  return { etag, lastModified: changed }
}

/** Returns a 304 if the client already has the page; otherwise undefined. */
export function answerUnchanged(
  facts: PageInputs,
  request: Pick<PageRequest, 'headers' | 'isTest'>,
): PageAnswer | undefined {
  const validators = validatorsOf(facts, request)
  if (!isUnchanged(request.headers, validators)) return undefined
  return { status: 304, headers: [...validatorHeaders(validators), ...VARY], body: Buffer.alloc(0) }
}

const VARY = ['Vary', 'User-Agent, Accept-Language']

const wantedBy = (headers: IncomingHttpHeaders) => readWanted(headers['accept-language'])

/**
 * Renders the page of a pass. The wallet buttons are in the order that fits the holder's device.
 *
 * @throws `unavailable` if too many barcodes are waiting.
 */
export async function answerPassPage(
  pass: PassState,
  request: PageRequest,
  barcodes: Pick<Barcodes, 'draw'>,
): Promise<PageAnswer> {
  const { headers, googleUrl, isTest, now } = request
  const state = withCodeAt(pass, now)
  const barcode = await barcodes.draw(readSpace(state.place.space).tenantId, state.barcode)
  const device = deviceOf(headers['user-agent'])
  const page = writePassPage(state, { barcode, device, wanted: wantedBy(headers), googleUrl, isTest })
  return {
    status: 200,
    headers: [...describe(page), ...freshness(state, request), ...VARY],
    body: Buffer.from(page.html),
  }
}

/** Returns the headers about the age of the page. A code that changes has no validators: the browser loads the next one. */
function freshness(state: PassState, request: PageRequest): readonly string[] {
  const { rotation } = state
  if (!rotation || isVoid(state)) return validatorHeaders(validatorsOf(state, request))
  return ['Cache-Control', 'no-store', 'Refresh', String(secondsLeft(rotation, request.now))]
}

/** Returns the page for every unknown address. It does not reveal which part of an address was wrong. */
export function answerMissing(headers: IncomingHttpHeaders): PageAnswer {
  const page = writeMissingPage(wantedBy(headers))
  return {
    status: 404,
    headers: [...describe(page), 'Cache-Control', 'no-store', ...VARY],
    body: Buffer.from(page.html),
  }
}

/** The address of a page is a secret, so the headers prevent referrers, indexing and framing. */
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
