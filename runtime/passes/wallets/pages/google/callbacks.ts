/** Google Wallet tells that a holder has added a pass, or removed it (Google Wallet, "Add and delete callbacks"). */

import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import { ApiError, unavailable } from '../../../../api/errors/errors.ts'
import type { Pool } from '../../../../database/pool/pool.ts'
import { readSpace } from '../../../../database/space.ts'
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
  /** Absent where passes are not sent to Google: then nobody calls back. */
  readonly keys: RootKeys | undefined
  readonly showing: Pick<OutsideScope, 'baseUrl' | 'passTokens'>
  /** The version that a tenant is pinned to in the environment. */
  readonly readPin: (tenantId: string) => Promise<string | null>
  /** There may be something to deliver. */
  readonly deliveriesDue: (space: string) => void
}

/** Google's messages have about 1 KiB. */
const MAX_BODY = 16_384

/** Answers `POST /google/v1/callback/{space}`. The space stands in the address: nothing has to be looked up to find it. */
export function createCallbacks(
  parts: CallbackParts,
): (visit: HolderRequest, space: string) => Promise<void> {
  const { environment, database, clock, log, issuerId, keys, showing } = parts

  const verify = async (posted: unknown): Promise<GoogleCallback> => {
    if (!keys) throw unavailable('Google Wallet is not in use.')
    const roots = await keys.find().catch((error: unknown) => {
      if (!(error instanceof NoRootKeys)) throw error
      log.warn({ err: error }, 'callbacks of Google Wallet cannot be verified now')
      throw unavailable('The keys of Google Wallet cannot be had now.')
    })
    const verdict = verifyCallback(posted, { keys: roots, recipientId: issuerId, now: clock.machine() })
    if ('callback' in verdict) return verdict.callback
    log.info({ environment, fault: verdict.fault }, 'a callback of Google Wallet was refused')
    throw new ApiError(401, 'authentication_error', 'invalid_token', 'The message is not to be believed.')
  }

  /** Gives whether deliveries may be due. */
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
    // Signed by Google all the same: what is not ours, or gone, would only be sent again.
    if (passId !== undefined && isId('pass', passId) && (await take(space, passId, callback, visit.now))) {
      parts.deliveriesDue(space)
    }
    visit.response.writeHead(200, ['Content-Length', '0']).end()
  }
}

/** What was posted; undefined for what is no JSON. Throws 413 beyond 16 KiB. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const text = await readBody(request, MAX_BODY)
  try {
    return parsePeerJson(text)
  } catch {
    return undefined // no signed message, as whoever verifies it says
  }
}

const SPACE = /^(ten_[0-9a-z]{26})(?:\.\d{1,9})?$/

/** Whether a part of an address is a space. */
export function isSpace(text: string): boolean {
  return isId('ten', SPACE.exec(text)?.[1] ?? '')
}
