import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { unavailable } from '../../../api/errors/errors.ts'

import type { Database } from '../../../database/database.ts'
import type { Pool } from '../../../database/pool/pool.ts'
import { readSpace } from '../../../database/space.ts'
import { createFairQueue } from '../../../platform/fairness/fair-queue.ts'
import { readChanged, readPassState, type StateSources } from '../../passes/state.ts'
import type { PassBuilder } from '../render/apple/build.ts'
import type { PassState } from '../render/pass-state.ts'
import type { PassPlace, PassTokens } from '../render/pass-tokens.ts'
import { type HttpValidators, isConditional, isUnchanged, validatorHeaders } from './conditions.ts'
import { type HolderRequest, type HolderRoute, nothingHere, requireMethod } from './holders.ts'

/** Media type of a pass file (Apple, "Distributing and Updating a Pass"). */
const TYPE = 'application/vnd.apple.pkpass'

export interface PassFiles {
  /**
   * Sends the file of a pass. If the client already has it, sends 304 without building the file or reading its content.
   * Rejects with 404 if the pass does not exist.
   */
  send(visit: HolderRequest, place: PassPlace): Promise<void>
}

export interface PassFileParts {
  readonly database: Pick<Pool, 'forTenant'>
  readonly sources: StateSources
  /** Creates the builder at the first call. */
  readonly builder: () => PassBuilder
}

/** Concurrent builds, in total and for one tenant. Each build uses a thread of the libuv pool for its signature. */
const BUILDS = 8
const BUILDS_OF_ONE = 3

/** Maximum number of waiting builds; further requests get status 503. */
const MAX_WAITING = 500

export function createPassFiles({ database, sources, builder }: PassFileParts): PassFiles {
  const queue = createFairQueue({ places: BUILDS, share: BUILDS_OF_ONE })
  const inTurn = async <T>(tenantId: string, work: () => Promise<T>): Promise<T> => {
    if (queue.load.waiting >= MAX_WAITING) throw unavailable()
    await new Promise<void>((start) => queue.acquire(tenantId, start))
    try {
      return await work()
    } finally {
      queue.release(tenantId)
    }
  }
  const validatorsOf = ({ space, passId }: PassPlace, changed: number): HttpValidators => {
    const text = `${builder().fingerprint} ${sources.baseUrl} ${space} ${passId} ${changed}`
    return { etag: `"${createHash('sha256').update(text).digest('base64url')}"`, lastModified: changed }
  }

  const sendUnbuilt = async (visit: HolderRequest, db: Database, place: PassPlace): Promise<boolean> => {
    const { headers, method } = visit.request
    const changed = await readChanged(db, place, visit.now)
    if (changed === undefined) throw nothingHere()
    const validators = validatorsOf(place, changed)
    if (isUnchanged(headers, validators)) {
      visit.response.writeHead(304, validatorHeaders(validators)).end()
      return true
    }
    if (method !== 'HEAD') return false
    visit.response.writeHead(200, [...validatorHeaders(validators), ...describe(place)]).end()
    return true
  }

  return {
    async send(visit, place) {
      const { request, response, now } = visit
      const { tenantId } = readSpace(place.space)
      const db = database.forTenant(tenantId)
      if (isConditional(request.headers) || request.method === 'HEAD') {
        if (await sendUnbuilt(visit, db, place)) return
      }
      const state = await readPassState(db, place, sources, now)
      if (!state) throw nothingHere()
      const file = await inTurn(tenantId, () => builder().build(state))
      sendFile(response, file, state, validatorsOf(place, state.changed))
    },
  }
}

function sendFile(
  response: ServerResponse,
  file: Buffer,
  { place }: PassState,
  validators: HttpValidators,
): void {
  const length = ['Content-Length', String(file.length)]
  response.writeHead(200, [...validatorHeaders(validators), ...describe(place), ...length]).end(file)
}

function describe({ passId }: PassPlace): string[] {
  return [
    'Content-Type',
    TYPE,
    'Content-Disposition',
    `attachment; filename="${passId}.pkpass"`,
    'X-Content-Type-Options',
    'nosniff',
  ]
}

const ENDING = '.pkpass'

/** Routes `/p/{token}.pkpass`. */
export function passFileRoute(files: PassFiles, passTokens: Pick<PassTokens, 'read'>): HolderRoute {
  return (visit) => {
    if (!visit.rest.endsWith(ENDING)) return undefined
    requireMethod(visit, 'GET', 'HEAD')
    const place = passTokens.read('page', visit.rest.slice(0, -ENDING.length))
    return place ? files.send(visit, place) : Promise.reject(nothingHere())
  }
}
