import type {
  AuthorizationDecisionsHandlers,
  TestCardsHandlers,
} from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { notFound } from '../../api/errors/errors.ts'
import { type Context, pausing } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { lockFacts, requireCard } from '../transactions/authorizing.ts'
import { placeOf, readMerchant } from '../transactions/simulators.ts'
import { showCardTransaction } from '../transactions/view.ts'
import { pose } from './asking.ts'
import { authorize, conclude } from './concluding.ts'
import { type AskedUse, isToBeAsked, listDecisions, readDecision } from './queries.ts'
import { showDecision } from './view.ts'

type Schemas = components['schemas']

export const authorizationDecisionsHandlers = {
  listAuthorizationDecisions: (context, { query }) => answerList(context, query, listDecisions, showDecision),

  async getAuthorizationDecision({ caller, db }, { path }) {
    const row = await readDecision(db, caller.space, path.authorization_decision_id)
    if (!row) throw notFound()
    return { status: 200, body: showDecision(row) }
  },

  /** Simulates a request from the card network. If the tenant has an authorization endpoint, the endpoint decides too. */
  simulateAuthorization: pausing(
    ({ db, caller, request, isRetry }, { body }: { body: Schemas['AuthorizationSimulation'] }) =>
      Promise.all([
        lockFacts(db, caller.space, body.card_id, request.now, isRetry ? 'locked' : 'read'),
        caller.tenant.plan === 'enterprise' &&
          isToBeAsked(db, caller.space, request.header('Idempotency-Key') ?? null),
      ]),
    async ({ db, caller, request }, { body }, prefetched) => {
      const { now, machineNow } = request
      const [facts, isAsked] = await prefetched
      if (!isAsked) return undefined
      const requestKey = request.header('Idempotency-Key') ?? null
      const place = { db, space: caller.space, now, machineNow, requestKey }
      const ask = await pose(place, readUse(body), requireCard(facts))
      return ask && ((context) => ask({ ...context, now, machineNow }))
    },
    async (context, { body }, asked, prefetched) => {
      const facts = requireCard((await prefetched)[0])
      const place = { ...placeOf(context), now: context.request.now }
      const row = asked ? await conclude(place, asked, facts) : await authorize(place, readUse(body), facts)
      return { status: 201, body: showCardTransaction(row) }
    },
  ),
} satisfies AuthorizationDecisionsHandlers<Context> &
  Pick<TestCardsHandlers<Context>, 'simulateAuthorization'>

function readUse(body: Schemas['AuthorizationSimulation']): AskedUse {
  const { card_id, amount, currency = 'usd', merchant, entry_method = null, wallet = null } = body
  // Adding 0 turns -0 into 0, which is what the database returns.
  const requested = amount + 0
  return { card_id, currency, merchant: readMerchant(merchant), requested, entry_method, wallet }
}
