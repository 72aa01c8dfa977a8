/** The life of a card transaction, from its history. */
import type { components } from '../../../../generated/canonical/types.ts'
import type { Html } from '../../../platform/html.ts'
import { money, when } from '../../engine/values.ts'
import { type TimelineEntry, timeline } from '../../html/records.ts'

type Transaction = components['schemas']['CardTransaction']
type Step = Transaction['history'][number]

const STEPS: Readonly<Record<Step['type'], Pick<TimelineEntry, 'what' | 'mood' | 'icon'>>> = {
  authorization: { what: 'Authorized', mood: 'good' },
  decline: { what: 'Declined', mood: 'bad' },
  increment: { what: 'Authorized more', mood: 'good', icon: 'plus' },
  reversal: { what: 'Reversed by the merchant', icon: 'rotate-ccw' },
  expiry: { what: 'Hold expired', icon: 'clock' },
  release: { what: 'Hold released by you', icon: 'rotate-ccw' },
  clearing: { what: 'Cleared', mood: 'good' },
  force_post: { what: 'Cleared without an authorization', mood: 'good' },
  refund: { what: 'Refunded', icon: 'rotate-ccw' },
}

export function writeHistory({ history, amounts, currency, expires_at }: Transaction): Html {
  const past = history.map(({ type, amount, created }) => ({
    ...STEPS[type],
    amount: money(amount, currency),
    at: when(created),
  }))
  if (expires_at === null) return timeline(past)
  return timeline([
    ...past,
    {
      what: 'Hold expires, if it is not cleared',
      amount: money(amounts.held, currency),
      at: when(expires_at),
    },
  ])
}
