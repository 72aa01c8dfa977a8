/** What must be true at the end of each day. Each check throws with the first thing that is not. */
import type { Database } from '../../runtime/database/database.ts'
import { ENVIRONMENTS, type Environment } from '../../runtime/platform/environment.ts'
import { authorizationsFollowTheMerchant } from './authorizations/checks.ts'
import { chainPaymentsAreRight, noncesAreUnique } from './chain/checks.ts'
import { nothingIsSentWhileHeld, payoutLinesAreRight } from './chain/lines.ts'
import { oldPaymentsAreGone } from './chain/old-payments.ts'
import { chainPaymentsAreStored, chainTransfersAreRight } from './chain/row-checks.ts'
import { alertsAreRight } from './checks/alerts.ts'
import { answersAreTold } from './checks/answers.ts'
import { auditIsWhole } from './checks/audit.ts'
import { blocksAreRight } from './checks/blocks.ts'
import { deliveriesAreTimely } from './checks/deliveries.ts'
import { deliveriesAreSummed } from './checks/delivery-reads.ts'
import { destinationsAreRight } from './checks/destinations.ts'
import { hooksAreShown } from './checks/endpoints.ts'
import { type Evidence, read } from './checks/evidence.ts'
import { answersAreStored } from './checks/keys.ts'
import { ledgerIsBalanced } from './checks/ledger.ts'
import { listsAreWhole } from './checks/lists.ts'
import { logsAreQuiet, lossesAreTold } from './checks/logs.ts'
import { moneyIsShown } from './checks/money-reads.ts'
import { fail } from './checks/must.ts'
import { payoutsAreRight } from './checks/payouts.ts'
import { recoveriesAreRight } from './checks/recoveries.ts'
import { retentionIsKept } from './checks/retention.ts'
import { settlementsMoveInTime } from './checks/settlement-history.ts'
import { settlementsAreRight } from './checks/settlements.ts'
import { streamsAreWhole } from './checks/streams.ts'
import { turnsAreUseful } from './checks/turns.ts'
import { attemptsAreRight } from './checks/webhooks.ts'
import type { Merchant } from './merchant.ts'
import { findUntrueChange, lastStates } from './told.ts'
import { devicesAreCurrent, googleIsCurrent } from './wallets/checks.ts'

interface EventRow {
  readonly id: string
  readonly sequence: number
  readonly type: string
  readonly body: string
  readonly created: number
  readonly audience: 'only' | 'others' | 'subscribed' | null
  readonly audience_endpoint_id: string | null
}

/** Whether an endpoint with `*` gets the event. Those about an endpoint that is blocked or disabled do not go to it. */
function isFor({ audience, audience_endpoint_id: other }: EventRow, endpoint: string): boolean {
  if (audience === 'only') return other === endpoint
  return audience !== null && other !== endpoint
}

/** A delivery is repeated within this time, and one more late poll. */
const RETRIED_MS = 2 * 3_600_000

/** Number of deliveries of an event, if all fail. */
const ATTEMPTS = 5

/** Events that an endpoint did not get because all deliveries of one event failed. The endpoint is then disabled. */
async function eventsGivenUp(
  db: Database,
  environment: Environment,
  { tenantId }: Merchant,
  endpoint: string,
): Promise<ReadonlySet<string>> {
  const rows = await read<{ event_id: string; attempt: number; status: string }>(
    db,
    `SELECT a.event_id, a.attempt, a.status
       FROM ${environment}.webhook_attempts a
       JOIN ${environment}.webhook_endpoints e ON e.tenant_id = a.tenant_id AND e.id = a.endpoint_id
      WHERE a.tenant_id = $1 AND e.id = $2 AND e.disabled_reason = 'retry_exhausted' AND a.status IN ('failed', 'canceled')`,
    ...[tenantId, endpoint],
  )
  const exhausted = rows.filter(({ attempt, status }) => status === 'failed' && attempt === ATTEMPTS)
  const canceled = exhausted.length > 0 ? rows.filter(({ status }) => status === 'canceled') : []
  return new Set([...exhausted, ...canceled].map(({ event_id }) => event_id))
}

/** Sequences have no gaps, and every event arrived: at least once, unchanged, and in order where that was promised. */
async function eventsArrived(
  { db, receivers, now, lateMs, faults }: Evidence,
  merchant: Merchant,
): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    const events = await read<EventRow>(
      db,
      `SELECT id, sequence, type, body, created, audience, audience_endpoint_id FROM ${environment}.events WHERE tenant_id = $1 ORDER BY sequence`,
      merchant.tenantId,
    )
    events.forEach(({ sequence }, index) => {
      if (sequence !== index + 1)
        fail(`${environment} event ${index + 1} of ${merchant.name} has number ${sequence}`)
    })
    const untrue = findUntrueChange(events.map(({ body }) => body))
    if (untrue !== undefined) fail(`${environment} events of ${merchant.name}: ${untrue}`)
    const states = lastStates(events.map(({ body }) => body))
    for (const { id, points } of environment === 'live' ? merchant.shown : []) {
      const { fields } = (states.get(id) ?? {}) as { readonly fields?: { readonly points?: unknown } }
      if (fields?.points !== points) fail(`no event tells ${merchant.name} that a pass has ${points} points`)
    }
    const endpoints = await read<{ id: string; url: string }>(
      db,
      `SELECT id, url FROM ${environment}.webhook_endpoints WHERE tenant_id = $1`,
      merchant.tenantId,
    )
    for (const kind of ['plain', 'ordered'] as const) {
      const host = `${environment}.${merchant.hosts[kind]}`
      const received = receivers.received.get(host) ?? []
      const places = new Map<string, number>()
      received.forEach(({ event }, index) => {
        if (!places.has(event)) places.set(event, index)
      })
      const bodies = new Map(received.map(({ event, body }) => [event, body]))
      const endpoint =
        endpoints.find(({ url }) => new URL(url).host === host)?.id ?? fail(`${host} has no endpoint`)
      const wanted = events.filter((event) => isFor(event, endpoint))
      // Events from before the endpoint are not for it.
      const start = wanted.findIndex(({ id }) => places.has(id))
      const givenUp = await eventsGivenUp(db, environment, merchant, endpoint)
      let last = -1
      for (const { id, sequence, type, body, created } of start < 0 ? [] : wanted.slice(start)) {
        const place = places.get(id)
        if (place === undefined && givenUp.has(id)) continue
        if (place === undefined && created > now - RETRIED_MS - lateMs) break // it may still come, and later ones after it
        if (place === undefined)
          fail(`event ${sequence} of ${merchant.name}, ${type}, did not arrive at ${host}`)
        if (bodies.get(id) !== body) fail(`event ${sequence} of ${merchant.name} arrived changed at ${host}`)
        if (kind === 'ordered' && place < last)
          fail(`event ${sequence} of ${merchant.name} arrived too late at ${host}`)
        last = place
      }
      if (faults === 0 && received.length !== places.size) fail(`${host} received an event twice`)
      const known = new Set(events.map(({ id }) => id))
      const strange = received.find(({ event }) => !known.has(event))
      if (strange) fail(`${host} received ${strange.event}, which was never committed`)
    }
  }
}

/** What clients were told of exists, and nothing else: a repeated request has not taken effect twice. */
async function nothingIsDoubled({ db }: Evidence, merchant: Merchant): Promise<void> {
  const made = { 'live.passes': merchant.passes, 'sandbox.card_transactions': merchant.transactions }
  for (const [table, known] of Object.entries(made)) {
    const [row] = await read<{ count: number }>(
      db,
      `SELECT count(*)::int AS count FROM ${table} WHERE tenant_id = $1`,
      merchant.tenantId,
    )
    if (row?.count !== known.length)
      fail(`${merchant.name} has ${row?.count} rows of ${table}, and was told of ${known.length}`)
  }
}

interface HeldRow {
  readonly held: number
  readonly spent: number
}

/** What is held is what open authorizations hold, and what is gone from the balance is what was spent. */
async function holdsAreReleased({ db }: Evidence, merchant: Merchant): Promise<void> {
  const [row] = await read<HeldRow>(
    db,
    `SELECT coalesce(sum(held), 0)::bigint AS held, coalesce(sum(cleared - refunded), 0)::bigint AS spent FROM sandbox.card_transactions WHERE tenant_id = $1`,
    merchant.tenantId,
  )
  const { held, available } = merchant.balances.sandbox
  if (held !== row!.held) fail(`${merchant.name} has ${held} held, and its transactions hold ${row!.held}`)
  const left = merchant.funded + merchant.shortfall - row!.spent - row!.held
  if (available !== left) fail(`${merchant.name} has ${available} available, not ${left}`)
}

/** Nothing that is due is left, and nothing was set aside. */
async function nothingIsLeft({ db }: Evidence): Promise<void> {
  const aside = await read<object>(db, 'SELECT * FROM control.set_aside_work LIMIT 1')
  if (aside[0]) fail(`work was set aside: ${JSON.stringify(aside[0])}`)
}

const CHECKS = [
  nothingIsDoubled,
  ledgerIsBalanced,
  auditIsWhole,
  eventsArrived,
  payoutsAreRight,
  attemptsAreRight,
  hooksAreShown,
  deliveriesAreSummed,
  blocksAreRight,
  recoveriesAreRight,
  answersAreTold,
  answersAreStored,
  listsAreWhole,
  streamsAreWhole,
  moneyIsShown,
  alertsAreRight,
  settlementsAreRight,
  settlementsMoveInTime,
  destinationsAreRight,
  holdsAreReleased,
  authorizationsFollowTheMerchant,
  chainPaymentsAreRight,
  chainTransfersAreRight,
  chainPaymentsAreStored,
  noncesAreUnique,
  devicesAreCurrent,
  googleIsCurrent,
]

export async function checkInvariants(evidence: Evidence): Promise<void> {
  for (const merchant of evidence.merchants) for (const check of CHECKS) await check(evidence, merchant)
  await oldPaymentsAreGone(evidence)
  await logsAreQuiet(evidence)
  lossesAreTold(evidence)
  await payoutLinesAreRight(evidence)
  nothingIsSentWhileHeld(evidence)
  await nothingIsLeft(evidence)
  await retentionIsKept(evidence)
  await deliveriesAreTimely(evidence)
  await turnsAreUseful(evidence)
}
