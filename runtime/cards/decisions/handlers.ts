import type { AuthorizationDecisionsHandlers } from '../../../generated/canonical/handlers.ts'
import { notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { listDecisions, readDecision } from './queries.ts'
import { showDecision } from './view.ts'

export const authorizationDecisionsHandlers = {
  listAuthorizationDecisions: (context, { query }) => answerList(context, query, listDecisions, showDecision),

  async getAuthorizationDecision({ caller, db }, { path }) {
    const row = await readDecision(db, caller.space, path.authorization_decision_id)
    if (!row) throw notFound()
    return { status: 200, body: showDecision(row) }
  },
} satisfies AuthorizationDecisionsHandlers<Context>
