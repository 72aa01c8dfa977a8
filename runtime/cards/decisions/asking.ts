/**
 * Asks a tenant's authorization endpoint about a card use. The request runs between two transactions; the first one stores
 * the question.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Destinations, PrepareContext } from '../../api/handler.ts'
import { inProgress, keyReused, STORED_FOR_MS } from '../../api/idempotency.ts'
import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { openSecrets } from '../../events/outbound/signing.ts'
import { secretContext } from '../../events/webhook-endpoints/secrets.ts'
import { newId } from '../../platform/ids.ts'
import type { Seals } from '../../platform/secrets.ts'
import type { Caller } from '../../tenants/keys/caller.ts'
import { AUTHORIZATION_ENDPOINT } from '../authorization-endpoint/handlers.ts'
import { type AuthorizationEndpointRow, readEndpoint } from '../authorization-endpoint/queries.ts'
import type { LockedFacts } from '../transactions/authorizing.ts'
import type { CardTransactionRow } from '../transactions/queries.ts'
import { begin } from '../transactions/states.ts'
import { showCardTransaction } from '../transactions/view.ts'
import { type AskedDecision, decideOn, notedOf, transactionOf } from './concluding.ts'
import {
  type AskedUse,
  type DecisionRow,
  findQuestion,
  forgetRequest,
  insertQuestion,
  noteAnswer,
} from './queries.ts'
import { readAnswer, writeQuestion } from './question.ts'

/** Time after the endpoint's timeout until a worker treats the decision as abandoned. */
const GRACE_MS = 10_000

/** Where a question is stored. */
export interface AskingPlace {
  readonly db: Database
  readonly space: string
  /** Service time. */
  readonly now: number
  readonly machineNow: number
  /** A UUID by which a repeated request finds the question; null if the request cannot be repeated. */
  readonly requestKey: string | null
}

/** What it takes to ask between two transactions. */
export interface AskingParts extends Pick<AskingPlace, 'now' | 'machineNow'> {
  readonly caller: Pick<Caller, 'environment' | 'space'>
  readonly seals: Seals
  /** The version that the tenant is pinned to in the environment. */
  readonly pin: string | null
  readonly destinations: Pick<Destinations, 'post'>
  /** See `PrepareContext`. */
  readonly transaction: PrepareContext['transaction']
  /** See `PrepareContext`. */
  readonly afterwards: PrepareContext['afterwards']
  /** The longest wait for the answer, in milliseconds. Default: the tenant's timeout. */
  readonly limitMs?: number
}

/** Sends a stored question and waits for the answer. */
export type Asking = (parts: AskingParts) => Promise<AskedDecision>

/**
 * Stores a question for the tenant's endpoint and returns a function that waits for the answer. Returns undefined if there
 * is no question to ask: the tenant has no endpoint, or the rules decline. Throws `idempotency_in_progress` while another
 * request with the same key is waiting.
 */
export async function pose(
  { db, space, now, machineNow, requestKey: key }: AskingPlace,
  use: AskedUse,
  facts: LockedFacts,
): Promise<Asking | undefined> {
  const [endpoint, earlier] = await Promise.all([
    readEndpoint(db, space),
    key === null ? undefined : findQuestion(db, space, key),
  ])
  const isStale = earlier !== undefined && earlier.due === null && earlier.created <= now - STORED_FOR_MS
  if (earlier && !isStale) {
    const asked = findAgain(earlier, use, machineNow)
    return async () => asked
  }
  const decision = decideOn(use, facts)
  if (!endpoint || decision.declined !== undefined) return undefined
  const row = {
    id: newId('azd', now),
    card_transaction_id: newId('ctx', now),
    created: now,
    use,
    default_action: endpoint.default_action,
    default_max_amount: endpoint.default_max_amount,
    due: machineNow + endpoint.timeout_ms + GRACE_MS,
  }
  if (isStale) pipelined(forgetRequest(db, space, key!))
  pipelined(insertQuestion(db, space, row, key))
  const transaction = begin(transactionOf(row, facts), decision, facts.clockOffset)
  return async (parts) => ({
    id: row.id,
    answer: await waitFor(parts, endpoint, { id: row.id, transaction }),
  })
}

/** Returns the question that an earlier request with the same Idempotency-Key asked. */
function findAgain({ id, use, due }: DecisionRow, asked: AskedUse, machineNow: number): AskedDecision {
  if (!isDeepStrictEqual(use, asked)) throw keyReused()
  if (due !== null && due > machineNow) throw inProgress()
  return { id, answer: undefined }
}

interface PosedQuestion {
  readonly id: string
  readonly transaction: CardTransactionRow
}

/**
 * Sends the question and waits up to the tenant's timeout, or up to the limit if that is earlier. A late answer is stored
 * but does not change the decision.
 */
async function waitFor(
  parts: AskingParts,
  { url, timeout_ms, ...endpoint }: AuthorizationEndpointRow,
  { id, transaction }: PosedQuestion,
): Promise<NonNullable<AskedDecision['answer']>> {
  const { caller, now, machineNow, seals, pin, destinations, limitMs = timeout_ms } = parts
  const sealedFor = secretContext(caller.environment, caller.space, AUTHORIZATION_ENDPOINT)
  const secrets = openSecrets(seals, sealedFor, endpoint, now)
  const shown = showCardTransaction(transaction)
  const question = writeQuestion({ id, transaction: shown, url, secrets, pin, now, machineNow })
  const answered = destinations.post(question).then((outcome) => readAnswer(outcome, transaction.requested))
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.min(timeout_ms, limitMs))
  })
  const answer = await Promise.race([answered, late])
  clearTimeout(timer)
  if (answer) return answer
  parts.afterwards(
    answered.then(async (given) => {
      if (given.status === 'errored') return
      await parts.transaction((tx) => noteAnswer(tx, caller.space, id, notedOf(given)))
    }),
  )
  return { status: 'timed_out' }
}
