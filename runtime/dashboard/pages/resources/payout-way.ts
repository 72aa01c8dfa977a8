/** The way of a payout to its destination, as a timeline. */
import type { components } from '../../../../generated/canonical/types.ts'
import { showPayout } from '../../../operator/payouts.ts'
import { type Html, html } from '../../../platform/html.ts'
import type { ApiPage, LinkTo, ShownText } from '../../engine/shapes.ts'
import { code, when, words } from '../../engine/values.ts'
import { type DashboardVisit, mayAct, roleFor } from '../../engine/visit.ts'
import { type TimelineEntry, timeline } from '../../html/records.ts'
import { readMoney, type ShownPosting } from './postings.ts'

type Schemas = components['schemas']
type Payout = Schemas['Payout']

/** The transfer as the chain or the bank reports it. */
interface ShownTransfer {
  readonly transfer: {
    readonly state: string
    readonly recipient: string
    readonly held_up_since: string | null
  } | null
  readonly signature: { readonly signed_at: string; readonly sent_at: string | null } | null
  readonly bank: {
    readonly state: string
    readonly bank_id: string | null
    readonly paid_at: string | null
    readonly held_up_since: string | null
  } | null
  readonly postings: readonly ShownPosting[]
}

export async function writeWay(payout: Payout, visit: DashboardVisit, link: LinkTo): Promise<Html> {
  const [shown, decisions] = await Promise.all([
    readMoney<ShownTransfer>(visit, showPayout, payout.id),
    readDecisions(payout, visit),
  ])
  const names = await visit.names(decisions.flatMap(({ actor }) => actor.id ?? []))
  const { settlement_id, created } = payout
  const creator = decisions.find(({ action }) => action === 'payout.created')
  const others = decisions.filter((each) => each !== creator)
  return timeline([
    {
      what: 'Created',
      mood: 'good',
      at: when(created),
      more:
        settlement_id === null
          ? creator && html`By ${writeActor(creator, names)}`
          : html`From ${link.to(settlement_id)}`,
    },
    ...(shown.bank ? stepsAtBank(shown.bank) : shown.transfer ? stepsOnChain(payout, shown) : []),
    ...others.map(({ action, created: at, ...entry }) => ({
      what: DECISIONS[action] ?? words(action.replace('.', ' ')),
      at: when(at),
      more: html`By ${writeActor(entry, names)}`,
    })),
    ...endOf(payout, shown),
  ])
}

type Entry = Schemas['AuditEntry']

/** Returns what people and keys did with the payout, oldest first, if the member may read the audit log. */
async function readDecisions({ id }: Payout, visit: DashboardVisit): Promise<readonly Entry[]> {
  if (!mayAct(visit.member.role, roleFor('listAuditEntries'))) return []
  const { data } = await visit.read<ApiPage<Entry>>('listAuditEntries', { query: { target_id: id } })
  return data.filter(({ actor, outcome }) => actor.type !== 'system' && outcome === 'succeeded').toReversed()
}

const DECISIONS: Readonly<Record<string, string>> = {
  'payout.canceled': 'Cancellation requested',
  'payout.retried': 'Retried',
  'payout.decided_paid': 'Recorded as paid',
  'payout.decided_failed': 'Recorded as failed',
}

const writeActor = ({ actor }: Pick<Entry, 'actor'>, names: ReadonlyMap<string, string>): ShownText =>
  (actor.id !== null && names.get(actor.id)) ||
  html`${words(actor.type).toLowerCase()} ${actor.id !== null && code(actor.id)}`

/** Instant of a ledger posting of the payout: the first creates it, the second ends it, and the third returns it. */
const postedAt = ({ postings }: ShownTransfer, index: number): Html | string | undefined => {
  const at = postings[index]?.created
  return at && when(at)
}

function stepsOnChain({ chain, status }: Payout, { transfer, signature }: ShownTransfer): TimelineEntry[] {
  const heldUp = heldUpStep(transfer!.held_up_since)
  const to = html`To ${code(transfer!.recipient)}`
  if (chain?.transaction_hash == null)
    return [...heldUp, ...(isOpen(status) ? [{ what: 'Waits to be signed', more: to }] : [])]
  const { id, transaction_hash: hash, confirmations } = chain
  const address = explorerOf(id, hash)
  return [
    { what: 'Signed', mood: 'good', at: signature ? when(signature.signed_at) : undefined, more: to },
    {
      what: 'Sent to the chain',
      mood: 'good',
      at: signature ? when(signature.sent_at) : undefined,
      more: html`Transaction ${code(hash)}${address && html` <a href="${address}" rel="noreferrer">View in the block explorer</a>`}`,
    },
    ...heldUp,
    confirmations > 0
      ? { what: `Confirmed in ${confirmations} ${confirmations === 1 ? 'block' : 'blocks'}`, mood: 'good' }
      : { what: 'Waits for confirmations' },
  ]
}

function stepsAtBank({ state, bank_id, held_up_since }: NonNullable<ShownTransfer['bank']>): TimelineEntry[] {
  const heldUp = heldUpStep(held_up_since)
  if (state === 'queued') return [...heldUp, { what: 'Waits to be sent to the bank' }]
  return [
    { what: 'Sent to the bank', mood: 'good' },
    ...heldUp,
    ...(bank_id === null
      ? []
      : [{ what: 'Accepted by the bank', mood: 'good', more: html`Reference ${code(bank_id)}` } as const]),
  ]
}

const heldUpStep = (since: string | null): TimelineEntry[] =>
  since === null
    ? []
    : [
        {
          what: 'Delayed',
          mood: 'warn',
          at: when(since),
          more: html`The operator of the service was notified.`,
        },
      ]

const isOpen = (status: Payout['status']) => status === 'pending' || status === 'in_transit'

function endOf({ status, failure_code, arrival_date }: Payout, shown: ShownTransfer): TimelineEntry[] {
  const reason = failure_code === null ? undefined : html`${words(failure_code)}`
  const paid: TimelineEntry = { what: 'Paid', mood: 'good', at: postedAt(shown, 1) }
  switch (status) {
    case 'paid':
      return [paid]
    case 'returned':
      return [paid, { what: 'Returned', mood: 'bad', at: postedAt(shown, 2), more: reason }]
    case 'failed':
      return [{ what: 'Failed', mood: 'bad', at: postedAt(shown, 1), more: reason }]
    case 'canceled':
      return [{ what: 'Canceled', mood: 'bad', at: postedAt(shown, 1) }]
    default:
      return arrival_date === null ? [] : [{ what: 'Paid', at: `Expected ${arrival_date}` }]
  }
}

/** Block explorers of public chains by CAIP-2 ID. Their addresses have the form of EIP-3091. */
const EXPLORERS: Readonly<Record<string, string>> = {
  'eip155:1': 'https://etherscan.io',
  'eip155:11155111': 'https://sepolia.etherscan.io',
  'eip155:8453': 'https://basescan.org',
  'eip155:84532': 'https://sepolia.basescan.org',
}

/** Returns the address of a transaction in the chain's explorer, or undefined for other chains, such as local ones. */
function explorerOf(chain: string, hash: string): string | undefined {
  const explorer = EXPLORERS[chain]
  return explorer && `${explorer}/tx/${hash}`
}
