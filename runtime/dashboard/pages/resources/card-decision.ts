/** Why an authorization was approved or declined: each rule, and the answer of the tenant's endpoint. */
import type { components } from '../../../../generated/canonical/types.ts'
import { readDecision } from '../../../cards/decisions/queries.ts'
import { type Html, html } from '../../../platform/html.ts'
import { code, money, state, words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { facts } from '../../html/components.ts'
import { timeline } from '../../html/records.ts'
import { compareRule, explainRule } from './rules.ts'

type Transaction = components['schemas']['CardTransaction']

export async function writeDecision(
  { rules, currency, decision_id, decline_reason }: Transaction,
  visit: DashboardVisit,
): Promise<Html> {
  const { db, space } = await visit.place()
  const asked = decision_id === null ? undefined : await readDecision(db, space, decision_id)
  const applied = rules.filter(({ outcome }) => outcome !== 'skipped')
  const skipped = rules.filter(({ outcome }) => outcome === 'skipped')
  return html`${decline_reason !== null && html`<p>${decline_reason.message}</p>`}
${asked && writeAnswer(asked, currency)}
${rules.length === 0 ? html`<p class="empty">No authorization rules were checked for this transaction.</p>` : writeRules(applied, currency)}
${
  skipped.length > 0 &&
  html`<details><summary>Rules that did not apply (${String(skipped.length)})</summary>
${writeRules(skipped, currency)}</details>`
}`
}

const MOODS = { passed: 'good', failed: 'bad', skipped: undefined } as const

/** Writes the rules in the order in which they were checked. */
function writeRules(rules: Transaction['rules'], currency: string): Html {
  return timeline(
    rules.map((rule) => ({
      what: explainRule(rule),
      mood: MOODS[rule.outcome],
      amount: compareRule(rule, currency),
      at: words(rule.outcome),
    })),
  )
}

type Asked = NonNullable<Awaited<ReturnType<typeof readDecision>>>

/** Writes what the endpoint answered, and after how many milliseconds. */
function writeAnswer(asked: Asked, currency: string): Html {
  const { status, approved, amount, decline_reason, duration_ms, stand_in_reason, default_action } = asked
  const answer =
    approved === null
      ? 'No usable answer'
      : approved
        ? html`Approved${amount !== null && html`: ${money(amount, currency)}`}`
        : `Declined${decline_reason === null ? '' : `: ${words(decline_reason).toLowerCase()}`}`
  return facts([
    ['Your endpoint', state(status)],
    ['Answer', answer],
    [
      'Answered after',
      duration_ms === null ? '–' : html`<span class="number">${String(duration_ms)} ms</span>`,
    ],
    ...(stand_in_reason
      ? ([
          ['Default action', words(default_action)],
          ['Reason for the default action', words(stand_in_reason)],
        ] as const)
      : []),
    ['Decision', code(asked.id)],
  ])
}
