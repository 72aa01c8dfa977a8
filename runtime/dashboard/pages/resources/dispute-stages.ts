/** The stages of a dispute, past and next. */
import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { money, when } from '../../engine/values.ts'
import { type TimelineEntry, timeline } from '../../html/records.ts'

type Dispute = components['schemas']['Dispute']

const ENDS: Readonly<Partial<Record<Dispute['status'], Omit<TimelineEntry, 'at'>>>> = {
  won: { what: 'Won', mood: 'good', more: html`The credit is final.` },
  lost: { what: 'Lost', mood: 'bad', more: html`The provisional credit was taken back.` },
  withdrawn: { what: 'Withdrawn', icon: 'rotate-ccw' },
  expired: { what: 'Expired', mood: 'bad', more: html`It was not submitted in time.` },
}

export function writeStages(dispute: Dispute): Html {
  const { status, amount, provisional_credit, currency, created, submitted_at, closed_at } = dispute
  const opened: TimelineEntry = {
    what: 'Opened',
    mood: 'good',
    amount: money(amount, currency),
    at: when(created),
  }
  const submitted: readonly TimelineEntry[] =
    submitted_at === null
      ? []
      : [
          {
            what: 'Submitted to the card network',
            mood: 'good',
            at: when(submitted_at),
            ...(provisional_credit > 0 && {
              more: html`Provisional credit: ${money(provisional_credit, currency)}`,
            }),
          },
        ]
  const end = ENDS[status]
  return timeline([opened, ...submitted, ...(end ? [{ ...end, at: when(closed_at) }] : nextOf(dispute))])
}

function nextOf({ status, submission_deadline }: Dispute): readonly TimelineEntry[] {
  if (status === 'unsubmitted')
    return [{ what: 'Submit by', mood: 'warn', at: when(submission_deadline) }, { what: 'Decision' }]
  if (status === 'submitted') return [{ what: 'Review by the card network' }, { what: 'Decision' }]
  return [{ what: 'Under review', mood: 'warn' }, { what: 'Decision' }]
}
