/** The webhook endpoints that each merchant has from the start. Receivers answer as their kind is in the habit of (peers.ts). */
import type { Environment } from '../../runtime/platform/environment.ts'

const PAYOUT_EVENTS = ['payout.created', 'payout.updated', 'payout.paid', 'payout.failed', 'payout.canceled']
const PASS_EVENTS = ['pass.created', 'pass.updated']

/** Kinds of receivers. */
export type EndpointKind =
  | 'plain'
  | 'ordered'
  | 'flaky'
  | 'keyed'
  | 'broken'
  | 'stuck'
  | 'jammed'
  | 'mixed'
  | 'silent'
  | 'filtered'
  | 'codes'
  | 'patient'
  | 'slow'

interface FirstEndpoint {
  readonly environment: Environment
  readonly kind: EndpointKind
  readonly content: object
}

export const FIRST_ENDPOINTS: readonly FirstEndpoint[] = [
  { environment: 'live', kind: 'plain', content: {} },
  { environment: 'live', kind: 'ordered', content: { delivery: 'fifo' } },
  { environment: 'live', kind: 'flaky', content: { enabled_events: PAYOUT_EVENTS } },
  {
    environment: 'live',
    kind: 'keyed',
    content: { enabled_events: PAYOUT_EVENTS, delivery: 'fifo', fifo_key: 'object' },
  },
  { environment: 'live', kind: 'broken', content: { enabled_events: ['pass.created'] } },
  { environment: 'live', kind: 'stuck', content: { enabled_events: PAYOUT_EVENTS, delivery: 'fifo' } },
  {
    environment: 'live',
    kind: 'jammed',
    content: { enabled_events: PAYOUT_EVENTS, delivery: 'fifo', fifo_key: 'object' },
  },
  { environment: 'live', kind: 'mixed', content: { enabled_events: [...PAYOUT_EVENTS, ...PASS_EVENTS] } },
  { environment: 'live', kind: 'silent', content: { enabled_events: PASS_EVENTS } },
  {
    environment: 'live',
    kind: 'filtered',
    content: {
      enabled_events: PAYOUT_EVENTS,
      filters: [
        { property: 'data.payout.status', equals: ['paid', 'pending', 'canceled'] },
        { property: 'data.payout.metadata.order', equals: [null, '8'] },
      ],
    },
  },
  { environment: 'sandbox', kind: 'plain', content: {} },
  { environment: 'sandbox', kind: 'ordered', content: { delivery: 'fifo' } },
  { environment: 'sandbox', kind: 'codes', content: { signature: 'standard_webhooks' } },
  {
    environment: 'sandbox',
    kind: 'patient',
    content: { enabled_events: ['cardholder.created'], retry_schedule: 'extended' },
  },
  { environment: 'sandbox', kind: 'slow', content: { enabled_events: ['promotion.created'] } },
]

export const ENDPOINT_KINDS: readonly EndpointKind[] = [...new Set(FIRST_ENDPOINTS.map(({ kind }) => kind))]

/** Kinds of endpoints that are disabled or recovered at times, so that events may have no attempt, or several of a number. */
export const PAUSED_KINDS: readonly EndpointKind[] = ['broken', 'mixed', 'stuck', 'jammed', 'slow']
