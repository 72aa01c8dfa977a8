/** Plans the action of a promotion for each object. */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Detail } from 'dateline/runtime'
import type { components } from '../../../generated/canonical/types.ts'
import { MAX_DETAILS } from '../../api/errors/errors.ts'
import type { PrepareContext } from '../../api/handler.ts'
import type { Database } from '../../database/database.ts'
import { MAX_ENDPOINTS } from '../../events/webhook-endpoints/handlers.ts'
import { countEndpoints, lockEndpointCount } from '../../events/webhook-endpoints/queries.ts'
import { findDifferences } from './differences.ts'
import { lockPromotions, type PromotionRow, readCopies } from './queries.ts'
import { type Promotable, type PromotableType, READERS } from './sources.ts'

type PromotionStep = components['schemas']['PromotionStep']

/** An object of the sandbox, and the rules of live that a copy would violate. */
export interface PromotionSource extends Promotable {
  readonly id: string
  /** SHA-256 of its content. */
  readonly digest: string
  readonly problems: readonly Detail[]
}

/**
 * Maximum number of characters of JSON that one promotion may read from the sandbox. A template may have images of 700
 * KiB.
 */
const MAX_READ = 8 * 1024 * 1024

/**
 * Differences that a plan shows, divided equally among its steps. Plans are stored, and listed up to 100 at a time.
 */
const MAX_DIFFERENCES = 1000

/** Maximum number of differences that one step shows, as documented. */
const MAX_DIFFERENCES_OF_STEP = 100

/** The objects to promote, or the faults of the request. */
export type PromotionSources =
  | { readonly sources: readonly PromotionSource[]; readonly faults?: undefined }
  | { readonly faults: readonly Detail[] }

/** Reads the objects from the sandbox one after the other, to bound the memory that they use together. */
export async function readSources(
  context: PrepareContext,
  type: PromotableType,
  ids: readonly string[],
): Promise<PromotionSources> {
  const sandbox = await context.openSandbox()
  const faults: Detail[] = []
  const found: Promotable[] = []
  const digests: string[] = []
  let length = 0
  for (const [index, id] of ids.entries()) {
    const field = `sandbox_ids[${index}]`
    if (ids.indexOf(id) < index) {
      faults.push({ field, issue: 'is a duplicate' })
      continue
    }
    const promotable = await READERS[type](sandbox.db, sandbox.space, id)
    if (!promotable) {
      faults.push({ field, issue: `is not a ${type.replaceAll('_', ' ')} in your sandbox` })
      continue
    }
    const text = JSON.stringify(promotable.content)
    length += text.length
    if (length > MAX_READ)
      return {
        faults: [
          { field, issue: 'exceeds the size limit of one promotion: promote fewer objects at a time' },
        ],
      }
    found.push(promotable)
    digests.push(createHash('sha256').update(text).digest('hex'))
  }
  if (faults.length > 0) return { faults }
  const problems = await Promise.all(found.map((each) => each.check(context)))
  const sources = found.map((each, index) => ({
    ...each,
    id: ids[index]!,
    digest: digests[index]!,
    problems: problems[index]!,
  }))
  return { sources }
}

/**
 * Plans what to do with each source.
 *
 * @param lock whether the same transaction carries out the plan, so that concurrent changes must wait.
 */
export async function makePlan(
  db: Database,
  space: string,
  type: PromotableType,
  sources: readonly PromotionSource[],
  lock: boolean,
): Promise<readonly PromotionStep[]> {
  if (lock) await lockPromotions(db, space)
  const ids = sources.map(({ id }) => id)
  const copies = await readCopies(db, space, ids)
  const isFull = type === 'webhook_endpoint' ? await countRoom(db, space, lock) : () => false
  const shown = Math.min(MAX_DIFFERENCES_OF_STEP, Math.floor(MAX_DIFFERENCES / sources.length))
  const steps: PromotionStep[] = []
  for (const source of sources) {
    // An object of a sandbox that is a copy of live has the identifier of its original.
    const liveId = copies.get(source.id) ?? source.id
    const copy = await READERS[type](db, space, liveId)
    steps.push(copy ? compare(source, liveId, copy, shown) : propose(source, isFull))
  }
  return steps
}

/** Returns a function that reserves a place for an endpoint at each call, and returns true if none is left. */
async function countRoom(db: Database, space: string, lock: boolean): Promise<() => boolean> {
  const used = lock ? await lockEndpointCount(db, space) : await countEndpoints(db, space)
  let left = MAX_ENDPOINTS - used
  return () => {
    left -= 1
    return left < 0
  }
}

const FULL: Detail = {
  field: '',
  issue: `exceeds the maximum of ${MAX_ENDPOINTS} endpoints in live: delete one first`,
}

function propose({ id, problems }: PromotionSource, isFull: () => boolean): PromotionStep {
  const all = problems.length === 0 && isFull() ? [FULL] : problems.slice(0, MAX_DETAILS)
  const action = all.length === 0 ? 'create' : 'refused'
  return {
    sandbox_id: id,
    live_id: null,
    action,
    differences: [],
    problems: all.map((each) => ({ ...each })),
  }
}

function compare(
  { id, content }: PromotionSource,
  liveId: string,
  copy: Promotable,
  shown: number,
): PromotionStep {
  const differences = findDifferences(content, copy.content).take(shown).toArray()
  const action = differences.length === 0 ? 'unchanged' : 'differs'
  return { sandbox_id: id, live_id: liveId, action, differences, problems: [] }
}

/**
 * Returns what has changed since an earlier plan of the same objects, by object; empty if the plan is still valid.
 */
export function findChanges(
  before: Pick<PromotionRow, 'plan' | 'digests'>,
  plan: readonly PromotionStep[],
  sources: readonly PromotionSource[],
): Detail[] {
  return plan.flatMap((step, index) => {
    const field = `sandbox_ids[${index}]`
    const was = before.plan[index]!
    if (step.action !== was.action) {
      return [
        {
          field,
          issue: `was planned to be ${IN_WORDS[was.action]}, but would now be ${IN_WORDS[step.action]}`,
        },
      ]
    }
    if (sources[index]!.digest !== before.digests[index]) {
      return [{ field, issue: 'has changed in the sandbox since the dry run' }]
    }
    return isDeepStrictEqual(step, was) ? [] : [{ field, issue: 'has changed in live since the dry run' }]
  })
}

const IN_WORDS: Readonly<Record<PromotionStep['action'], string>> = {
  create: 'created',
  unchanged: 'left unchanged',
  differs: 'left unchanged although it differs',
  refused: 'refused',
}
