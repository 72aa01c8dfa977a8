/**
 * Handles callbacks of Google Wallet: a holder has added or deleted a pass (Google Wallet, "Add and delete callbacks").
 */

import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import { ApiError, unavailable } from '../../../../api/errors/errors.ts'
import type { Pool } from '../../../../database/pool/pool.ts'
import { readSpace, SPACE_PATTERN } from '../../../../database/space.ts'
import type { Environment } from '../../../../platform/environment.ts'
import { isId } from '../../../../platform/ids.ts'
import { parsePeerJson } from '../../../../platform/json/peer-json.ts'
import type { Clock } from '../../../../tenants/clock/clock.ts'
import { claimCallback } from '../../../passes/google-callbacks.ts'
import { markOutsideRequest, type OutsideScope } from '../../../passes/installs.ts'
import { type GoogleCallback, verifyCallback } from '../../render/google/callback.ts'
import { readGoogleId } from '../../render/google/kinds.ts'
import { type HolderRequest, requireMethod } from '../holders.ts'
import { readBody } from '../read-body.ts'
import { NoRootKeys, type RootKeys } from './root-keys.ts'

export interface CallbackParts {
  readonly environment: Environment
  readonly database: Pick<Pool, 'forTenant'>
  readonly clock: Clock
  readonly log: Logger
  readonly issuerId: string
  /** Absent if passes are not sent to Google. Callbacks then get status 503. */
  readonly keys: RootKeys | undefined
  readonly showing: Pick<OutsideScope, 'baseUrl' | 'passTokens'>
  /** Returns the tenant's pinned version in the environment. */
  readonly readPin: (tenantId: string) => Promise<string | null>
  /** Called when the space may have deliveries due. */
  readonly deliveriesDue: (space: string) => void
}

/** Maximum body size in bytes. Google's messages have about 1 KiB. */
const MAX_BODY = 16_384

/**
 * Creates the handler of `POST /google/v1/callback/{space}`. The space is in the path, so no lookup is needed to find
 * it.
 */
export function createCallbacks(
  parts: CallbackParts,
): (visit: HolderRequest, space: string) => Promise<void> {
  const { environment, database, clock, log, issuerId, keys, showing } = parts

  const verify = async (posted: unknown): Promise<GoogleCallback> => {
    if (!keys) throw unavailable('Google Wallet is not configured.')
    const roots = await keys.find().catch((error: unknown) => {
      if (!(error instanceof NoRootKeys)) throw error
      log.warn({ err: error }, 'Google Wallet keys are unavailable, so callbacks cannot be verified')
      throw unavailable('The Google Wallet keys are temporarily unavailable. Try again later.')
    })
    const verdict = verifyCallback(posted, { keys: roots, recipientId: issuerId, now: clock.machine() })
    if ('callback' in verdict) return verdict.callback
    log.info({ environment, fault: verdict.fault }, 'a Google Wallet callback was refused')
    throw new ApiError(
      401,
      'authentication_error',
      'invalid_token',
      'The signature of the message is not valid.',
    )
  }

  /** Records the callback. Returns whether deliveries may be due. */
  const take = async (
    space: string,
    passId: string,
    callback: GoogleCallback,
    now: number,
  ): Promise<boolean> => {
    const { tenantId } = readSpace(space)
    const pin = await parts.readPin(tenantId)
    return database.forTenant(tenantId).transaction(async (db) => {
      if (!(await claimCallback(db, space, callback.nonce, callback.expiresAt, clock.machine()))) return false
      const type = callback.eventType === 'save' ? 'pass.installed' : 'pass.uninstalled'
      const marked = await markOutsideRequest(
        { ...showing, db, environment, pin, space, now },
        type,
        passId,
        'google',
      )
      return marked?.due ?? false
    })
  }

  return async (visit, space) => {
    requireMethod(visit, 'POST')
    const callback = await verify(await readJson(visit.request))
    const passId = readGoogleId(issuerId, callback.objectId)
    // A callback for an unknown pass also gets status 200: the signature is valid, and Google would retry any other
    // status.
    if (passId !== undefined && isId('pass', passId) && (await take(space, passId, callback, visit.now))) {
      parts.deliveriesDue(space)
    }
    visit.response.writeHead(200, ['Content-Length', '0']).end()
  }
}

/** Returns the posted JSON, or undefined if the body is not valid JSON. Throws 413 if it exceeds 16 KiB. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const text = await readBody(request, MAX_BODY)
  try {
    return parsePeerJson(text)
  } catch {
    return undefined // the verifier rejects undefined
  }
}

const SPACE = new RegExp(`^${SPACE_PATTERN}$`)

/** Returns whether a path segment is a space. */
export function isSpace(text: string): boolean {
  return SPACE.test(text) && isId('ten', readSpace(text).tenantId)
}
