/** Records expiries in the database. Callers already see a pass as expired from its `expires_at` on. */

import { pipelined } from '../../database/pipelined.ts'
import { type Done, type DueParts, type DuePlace, dueWorker } from '../../events/due-work.ts'
import { emit } from '../../events/emit/emit.ts'
import type { Environment } from '../../platform/environment.ts'
import type { BaseUrls } from '../../tenants/addresses/base-urls.ts'
import type { DeclaredWorker } from '../../work/workers.ts'
import type { PassTokens } from '../wallets/render/pass-tokens.ts'
import { changeAtExpiry } from './changed.ts'
import { passMove } from './moves.ts'
import { findOverduePasses, lockPasses, updatePasses } from './queries.ts'
import { statusAt } from './status.ts'
import { showPass } from './view.ts'
import { tellWallets } from './wallet-queue.ts'

export interface ExpiryParts extends DueParts {
  readonly baseUrls: BaseUrls
  readonly passTokens: Readonly<Record<Environment, PassTokens>>
}

/** Passes found by one statement and expired in one transaction. */
const BATCH = 500

/** Declares the worker that expires passes whose `expires_at` has passed by the service clock. */
export function passExpiryWorker(parts: ExpiryParts): DeclaredWorker {
  return dueWorker(parts, {
    name: 'pass_expiry',
    finds: [findOverduePasses],
    batch: BATCH,
    act: (place, found) =>
      expireOf(
        parts,
        place,
        found.map(({ id }) => id),
      ),
  })
}

async function expireOf(
  { clock, baseUrls, passTokens }: ExpiryParts,
  { environment, db, space, events, now }: DuePlace,
  ids: readonly string[],
): Promise<readonly Done[]> {
  const passes = await lockPasses(db, space, ids)
  const expired = [...passes.values()].flatMap((pass) =>
    // Another node may have expired the pass already, or a request may have archived it.
    pass.status !== 'expired' && statusAt(pass, now) === 'expired'
      ? [
          {
            ...pass,
            ...changeAtExpiry(pass, now),
            status: 'expired' as const,
            updated: Math.max(pass.updated, pass.expires_at!),
          },
        ]
      : [],
  )
  if (expired.length === 0) return []
  const showing = { baseUrl: baseUrls[environment], passTokens: passTokens[environment], space, now }
  const rendered = expired.map((pass) => ({
    data: { pass: showPass(pass, showing) },
    passMove: passMove(passes.get(pass.id), pass),
  }))
  pipelined(updatePasses(db, space, expired))
  tellWallets(db, space, expired, clock.machine())
  for (const each of rendered) emit(events, { type: 'pass.expired', ...each })
  return expired.map(({ id }) => ({ id, action: 'pass.expired' }))
}
