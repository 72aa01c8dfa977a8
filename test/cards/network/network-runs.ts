/** Runs deliveries of network messages against a tenant of their own, and reads the state that they lead to. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createCardKeys } from '../../../runtime/cards/card-keys/card-keys.ts'
import { createCardDirectory } from '../../../runtime/cards/card-keys/directory.ts'
import { findByDigest } from '../../../runtime/cards/card-keys/directory-queries.ts'
import { FORMATS, type FormatName } from '../../../runtime/cards/clearing/formats.ts'
import { importFile } from '../../../runtime/cards/clearing/import.ts'
import {
  type FiledMessage,
  openClearingFile,
} from '../../../runtime/cards/network-simulator/clearing-file.ts'
import { adviceOf, type SimulatedMessage } from '../../../runtime/cards/network-simulator/messages.ts'
import { holdExpiryWorker } from '../../../runtime/cards/transactions/expiry-job.ts'
import { findFault } from '../../../runtime/money/ledger/verify.ts'
import type { Environment } from '../../../runtime/platform/environment.ts'
import { makeKey, makeTenant, START, speak, type TestService } from '../../support/service.ts'
import { strictLog } from '../../support/strict-log.ts'
import { make } from '../fixtures.ts'
import { CARDS, type Delivery, type DrawnScenario, isRequest } from './deliveries.ts'
import type { NetworkSend } from './open-network.ts'

const DAY = 86_400_000

/** Holds and what comes late end before that: the longest hold, and the longest delay. */
const END = START + 60 * DAY

export interface Issuer {
  readonly tenantId: string
  /** By the position in `CARDS`. */
  readonly numbers: readonly string[]
  readonly cards: readonly string[]
}

/** Creates a tenant with ample funds and the cards of `CARDS`. */
export async function openIssuer(service: TestService): Promise<Issuer> {
  service.clock.now = START
  const tenantId = await makeTenant(service)
  const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
  const send = speak(service.urls.sandbox, { secret })
  expect((await send('/v1/test/funding', { body: { amount: 1_000_000_000 } })).status).toBeLessThan(300)
  const cardholder_id = (await make(send, '/v1/cardholders', { name: 'Ada Moreau' })).id
  const [numbers, cards]: [string[], string[]] = [[], []]
  for (const { controls, frozen } of CARDS) {
    const card = await make(send, '/v1/cards', {
      cardholder_id,
      type: 'virtual',
      spending_controls: controls,
    })
    if (frozen) await send(`/v1/cards/${card.id}/freeze`, { body: {} })
    numbers.push((await send(`/v1/cards/${card.id}/details`)).body.number)
    cards.push(card.id)
  }
  return { tenantId, numbers, cards }
}

/** Delivers the messages at their times on the service clock, while the worker that expires holds works each day. */
export async function run(
  service: TestService,
  network: NetworkSend,
  deliveries: readonly Delivery[],
  { together = 1, filed }: Partial<Pick<DrawnScenario, 'together' | 'filed'>>,
): Promise<readonly string[]> {
  const answers: string[] = []
  const parts = { ...service, log: strictLog, wakeUpChannel: { publish: () => {} } }
  const exchange = async ({ sent, at }: Delivery) => {
    const answer = await network(sent.kind, sent.message)
    const outcome =
      'decision' in answer ? `${answer.decision} ${answer.decline_reason ?? ''}` : answer.outcome
    // The authorization has not arrived, so the network decides.
    if (sent.kind === 'increment' && outcome.startsWith('unavailable')) {
      const { kind, message } = adviceOf(sent, true)
      await network(kind, message)
    }
    answers.push(`${new Date(at).toISOString()} ${sent.kind} ${sent.message.message_id}: ${outcome}`)
  }
  for (const batch of batchesOf(
    filed ? deliveries.filter(({ sent }) => !isFiled(sent)) : deliveries,
    together,
  )) {
    const today = Math.floor(service.clock.now / DAY)
    service.clock.now = Math.max(service.clock.now, ...batch.map(({ at }) => at))
    if (Math.floor(service.clock.now / DAY) > today) await holdExpiryWorker(parts).runOnce()
    await Promise.all(batch.map(exchange))
  }
  if (filed) await importClearings(service, deliveries, filed)
  service.clock.now = END
  await holdExpiryWorker(parts).runOnce()
  return answers
}

export const isFiled = (sent: SimulatedMessage): sent is FiledMessage =>
  sent.kind === 'clear' || sent.kind === 'refund'

/** Writes the clearings and refunds into a file, and imports it. */
async function importClearings(
  { database, clock }: TestService,
  deliveries: readonly Delivery[],
  format: FormatName,
): Promise<void> {
  const path = join(tmpdir(), `svc-clearing-${randomUUID()}.${format}`)
  const header = { network: 'Test', business_date: '2026-06-01', environment: 'sandbox' } as const
  const file = openClearingFile(path, format, { file_id: randomUUID(), ...header })
  for (const { sent } of deliveries) if (isFiled(sent)) file.add(sent)
  file.close()
  const room = database.cards!.pool
  const keys = createCardKeys(database.cards!, clock)
  const parts = {
    ...{ database, clock, digest: keys.digest, cards: createCardDirectory(room, keys) },
    rates: { interchange: 150, networkFee: 10 },
    wakeUpChannel: { publish: () => {} },
    findByDigest: (environment: Environment, digest: Buffer) => findByDigest(room, environment, digest),
  }
  await importFile(parts, path, FORMATS[format])
  rmSync(path)
}

/** Decisions depend on what has arrived before: on tokens and on clearings. */
const isAlone = (sent: SimulatedMessage) => isRequest(sent) || sent.kind === 'changeToken'

/** Whether two messages may arrive at the same time: a request only with what repeats, replaces or reverses it. */
function mayMeet(one: SimulatedMessage, other: SimulatedMessage): boolean {
  const [first, second] = [one.message.message_id, other.message.message_id]
  if (first === second || second.startsWith(`${first}-`) || first.startsWith(`${second}-`)) return true
  return !isAlone(one) && !isAlone(other)
}

function batchesOf(deliveries: readonly Delivery[], together: number): readonly (readonly Delivery[])[] {
  const batches: Delivery[][] = []
  for (const delivery of deliveries) {
    const last = batches.at(-1)
    const fits = last && last.length < together && last.every(({ sent }) => mayMeet(sent, delivery.sent))
    if (fits) last.push(delivery)
    else batches.push([delivery])
  }
  return batches
}

/** What messages lead to, without the identifiers and times in which two tenants differ. */
export async function stateOf({ database }: TestService, { tenantId, cards }: Issuer) {
  const rows = async (text: string) =>
    (await database.control.query<Record<string, unknown>>({ text }, [tenantId])).rows.map((row) =>
      JSON.parse(JSON.stringify(row), (_, value) =>
        cards.includes(value) ? `card ${cards.indexOf(value)}` : value,
      ),
    )
  expect(await findFault(database.control, 'sandbox', tenantId)).toBeUndefined()
  const transactions = await rows(
    `SELECT network_id, card_id, type, status, merchant, currency, requested, authorized, held, cleared, refunded, reversed,
            entry_method, wallet, history
       FROM sandbox.card_transactions WHERE tenant_id = $1 ORDER BY network_id`,
  )
  return {
    transactions: transactions.map(({ history, ...row }) => ({
      ...row,
      history: history.map(({ type, amount }: { type: string; amount: number }) => `${type} ${amount}`),
    })),
    accounts: await rows(
      'SELECT id, balance, held FROM sandbox.ledger_accounts WHERE tenant_id = $1 ORDER BY id',
    ),
    holds: await rows(
      `SELECT t.network_id, h.amount FROM sandbox.ledger_holds h
         LEFT JOIN sandbox.card_transactions t ON t.tenant_id = h.tenant_id AND t.hold_id = h.id
        WHERE h.tenant_id = $1 AND NOT EXISTS (
          SELECT FROM sandbox.ledger_resolutions r WHERE r.tenant_id = h.tenant_id AND r.hold_id = h.id)
        ORDER BY 1, 2`,
    ),
    lines: await rows(
      // A refund that arrives before a clearing takes effect in two parts.
      `SELECT t.network_id, l.type, sum(l.amount)::bigint AS amount FROM sandbox.settlement_lines l
         LEFT JOIN sandbox.card_transactions t ON t.tenant_id = l.tenant_id AND t.id = l.source_id
        WHERE l.tenant_id = $1 GROUP BY 1, 2 ORDER BY 1, 2`,
    ),
    totals: await rows(
      `SELECT sum(transaction_amount)::bigint AS transactions, sum(interchange_amount)::bigint AS interchange,
              sum(fees_amount)::bigint AS fees, sum(net_amount)::bigint AS net
         FROM sandbox.settlements WHERE tenant_id = $1`,
    ),
    spending: await rows(
      `SELECT card_id, granularity, category, sum(amount)::bigint AS amount, sum(authorizations)::bigint AS authorizations
         FROM sandbox.card_spending
        WHERE tenant_id = $1 AND (amount <> 0 OR authorizations <> 0) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    ),
    tokens: await rows(
      'SELECT card_id, wallet, status FROM sandbox.wallet_tokens WHERE tenant_id = $1 ORDER BY 1, 2, 3',
    ),
  }
}
