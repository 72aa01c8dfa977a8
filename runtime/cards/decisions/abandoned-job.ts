/** Ends authorization decisions whose process stopped before the endpoint answered. The default action applies to them. */

import { type Done, type DueParts, type DuePlace, dueWorker } from '../../events/due-work.ts'
import type { DeclaredWorker } from '../../work/workers.ts'
import { lockFacts } from '../transactions/authorizing.ts'
import { conclude } from './concluding.ts'
import { findOverdueQuestions, readDecision } from './queries.ts'

/** Ends overdue decisions. Each decision locks its card, so each runs in a separate transaction. */
export function abandonedDecisionWorker(parts: DueParts): DeclaredWorker {
  return dueWorker(parts, {
    name: 'authorization_decisions',
    finds: [(db, _, limit) => findOverdueQuestions(db, parts.clock.machine(), limit)],
    isSingle: true,
    act: (place, [question]) => endOne(place, question!.id),
  })
}

async function endOne({ db, space, events, now }: DuePlace, id: string): Promise<readonly Done[]> {
  const question = await readDecision(db, space, id)
  const facts = question && (await lockFacts(db, space, question.use.card_id, now, 'locked', question.use))
  if (!facts) return [] // wiped
  const row = await conclude({ db, space, events, now }, { id, answer: undefined }, facts)
  return [{ id: row.decision_id!, action: 'authorization_decision.timed_out' }]
}
