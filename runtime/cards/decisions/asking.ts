/**
 * Asks a tenant's authorization endpoint about a card use. The request runs between two transactions; the first one stores
 * the question.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Context, Pause, PrepareContext } from '../../api/handler.ts'
import { inProgress, keyReused, STORED_FOR_MS } from '../../api/idempotency.ts'
import { pipelined } from '../../database/pipelined.ts'
import { openSecrets } from '../../events/outbound/signing.ts'
import { secretContext } from '../../events/webhook-endpoints/secrets.ts'
import { newId } from '../../platform/ids.ts'
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

/**
 * Stores a question for the tenant's endpoint and returns a function that waits for the answer. Returns undefined if there
 * is no question to ask: the tenant has no endpoint, or the rules decline. Throws `idempotency_in_progress` while another
 * request with the same key is waiting.
 */
export async function pose(
  { caller, db, request }: Context,
  use: AskedUse,
  facts: LockedFacts,
): Promise<Pause<AskedDecision> | undefined> {
  const { now, machineNow } = request
  const key = request.header('Idempotency-Key') ?? null
  const [endpoint, earlier] = await Promise.all([
    readEndpoint(db, caller.space),
    key === null ? undefined : findQuestion(db, caller.space, key),
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
    due: machineNow + endpoint.timeout_ms + GRACE_MS,
  }
  if (isStale) pipelined(forgetRequest(db, caller.space, key!))
  pipelined(insertQuestion(db, caller.space, row, key))
  const transaction = begin(transactionOf(row, facts), decision, facts.clockOffset)
  return async (context) => ({
    id: row.id,
    answer: await waitFor(context, endpoint, { id: row.id, transaction }),
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

/** Sends the question and waits up to the tenant's timeout. A late answer is stored but does not change the decision. */
async function waitFor(
  context: PrepareContext,
  { url, timeout_ms, ...endpoint }: AuthorizationEndpointRow,
  { id, transaction }: PosedQuestion,
): Promise<NonNullable<AskedDecision['answer']>> {
  const { caller, request, seals, pin, destinations } = context
  const { now, machineNow } = request
  const sealedFor = secretContext(caller.environment, caller.space, AUTHORIZATION_ENDPOINT)
  const secrets = openSecrets(seals, sealedFor, endpoint, now)
  const shown = showCardTransaction(transaction)
  const question = writeQuestion({ id, transaction: shown, url, secrets, pin, now, machineNow })
  const answered = destinations.post(question).then((outcome) => readAnswer(outcome, transaction.requested))
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeout_ms)
  })
  const answer = await Promise.race([answered, late])
  clearTimeout(timer)
  if (answer) return answer
  context.afterwards(
    answered.then(async (given) => {
      if (given.status === 'errored') return
      await context.transaction((tx) => noteAnswer(tx, caller.space, id, notedOf(given)))
    }),
  )
  return { status: 'timed_out' }
}
