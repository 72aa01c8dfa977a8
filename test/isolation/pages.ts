/** Every list of every resource: each filter with a rare and a common value, both orders, first and middle pages. */

import { listPromotions } from '../../runtime/account/promotions/queries.ts'
import { listSandboxes } from '../../runtime/account/sandboxes/queries.ts'
import { listSnapshots } from '../../runtime/account/snapshots/queries.ts'
import { listRequests } from '../../runtime/api/request-log-queries.ts'
import { listAlerts } from '../../runtime/cards/cardholders/alerts.ts'
import { listCardholders } from '../../runtime/cards/cardholders/queries.ts'
import { listCards } from '../../runtime/cards/cards/queries.ts'
import { listDecisions } from '../../runtime/cards/decisions/queries.ts'
import { listDisputes } from '../../runtime/cards/disputes/queries.ts'
import { listCardPrograms } from '../../runtime/cards/programs/queries.ts'
import { listPayloads } from '../../runtime/cards/provisioning/queries.ts'
import { listBacktests, listFlips } from '../../runtime/cards/spending-control-backtests/queries.ts'
import { listDrafts, listVersions } from '../../runtime/cards/spending-control-drafts/queries.ts'
import { listCardTransactions } from '../../runtime/cards/transactions/queries.ts'
import { listWalletTokens } from '../../runtime/cards/wallet-tokens/queries.ts'
import type { Database } from '../../runtime/database/database.ts'
import type { CreatedRange, RequestedPage } from '../../runtime/database/page.ts'
import { listAttempts } from '../../runtime/events/delivery-attempts/queries.ts'
import { listEvents } from '../../runtime/events/emit/queries.ts'
import { listEndpoints } from '../../runtime/events/webhook-endpoints/queries.ts'
import { listBalanceEntries } from '../../runtime/money/balance/entries.ts'
import { listDestinations } from '../../runtime/money/destinations/queries.ts'
import { listPayouts } from '../../runtime/money/payouts/queries.ts'
import { listReports } from '../../runtime/money/reports/queries.ts'
import { listLines, listSettlements } from '../../runtime/money/settlement-lines/queries.ts'
import { listPassMessageBatches } from '../../runtime/passes/pass-messages/batch-queries.ts'
import { listPassMessages } from '../../runtime/passes/pass-messages/queries.ts'
import { countPasses, listPasses, type PassFilter } from '../../runtime/passes/passes/queries.ts'
import { listScans } from '../../runtime/passes/scans/queries.ts'
import { listTemplates } from '../../runtime/passes/templates/queries.ts'
import { listAudit } from '../../runtime/tenants/audit/queries.ts'
import { type Crowd, crowdId, rowsOf } from './crowd.ts'

/** A list with a filter, to be read page by page. */
export interface ListedWith {
  readonly name: string
  /** Of the identifiers, for boundaries. */
  readonly prefix: string
  read(page: RequestedPage): Promise<unknown>
}

const ALL: { readonly created: CreatedRange } = { created: {} }
const TYPES = ['pass.created', 'pass.revoked', 'pass_template.created']

/** @param now service time. */
export function everyList(db: Database, crowd: Crowd, now: number): ListedWith[] {
  const {
    tenantId,
    commonTemplate,
    rareTemplate,
    commonPass,
    rarePass,
    commonEndpoint,
    commonActor,
    rareActor,
    event,
  } = crowd
  const account = ['settlement_payable']
  const later = { created: { gte: crowd.from + 1000 * (crowd.rows / 5) } }
  const passes = (name: string, filter: Partial<PassFilter>): ListedWith => ({
    name: `passes ${name}`,
    prefix: 'pass',
    read: (page) => listPasses(db, tenantId, { ...ALL, ...filter }, page, now),
  })
  const lists = <Filter extends typeof ALL>(
    resource: string,
    prefix: string,
    list: (db: Database, tenantId: string, filter: Filter, page: RequestedPage) => Promise<unknown>,
    filters: Readonly<Record<string, Partial<Filter>>>,
  ): ListedWith[] =>
    Object.entries(filters).map(([name, filter]) => ({
      name: `${resource} ${name}`,
      prefix,
      read: (page) => list(db, tenantId, { ...ALL, ...filter } as Filter, page),
    }))
  const attempts = (name: string, filter: object): ListedWith => ({
    name: `delivery attempts ${name}`,
    prefix: 'wdla',
    read: (page) => listAttempts(db, tenantId, { ...ALL, endpoint_id: [commonEndpoint], ...filter }, page),
  })
  return [
    passes('', {}),
    passes('of a time', later),
    passes('with archived', { include_archived: true }),
    ...['issued', 'revoked', 'redeemed', 'expired'].flatMap((status) => [
      passes(status, { status: [status] }),
      passes(`${status}, with archived`, { status: [status], include_archived: true }),
      passes(`${status}, of the common template`, { status: [status], template_id: [commonTemplate] }),
      passes(`${status}, of the rare template`, { status: [status], template_id: [rareTemplate] }),
    ]),
    passes('issued or revoked', { status: ['issued', 'revoked'] }),
    passes('expired or issued', { status: ['expired', 'issued'] }),
    passes('of the common template', { template_id: [commonTemplate] }),
    passes('of the rare template', { template_id: [rareTemplate] }),
    passes('of both templates, with archived', {
      template_id: [commonTemplate, rareTemplate],
      include_archived: true,
    }),
    ...lists('templates', 'tpl', listTemplates, {
      '': {},
      'of a time': later,
      'of the common kind': { kind: ['loyalty'] },
      'of the rare kind': { kind: ['coupon'] },
      active: { status: ['active'] },
      archived: { status: ['archived'] },
      'of the common kind, archived': { kind: ['loyalty'], status: ['archived'] },
      'of two kinds': { kind: ['coupon', 'loyalty'] },
    }),
    ...lists('scans', 'scan', listScans, {
      '': {},
      'of a time': later,
      'of the common pass': { pass_id: [commonPass] },
      'of the rare pass': { pass_id: [rarePass] },
      'of the common result': { result: ['accepted'] },
      'of the rare result': { result: ['unknown'] },
      'of two results': { result: ['revoked', 'accepted'] },
      'of the common pass, of the rare result': { pass_id: [commonPass], result: ['revoked'] },
      'of both passes, of a time': { pass_id: [commonPass, rarePass], ...later },
    }),
    ...lists('pass messages', 'pmg', listPassMessages, {
      '': {},
      'of a time': later,
      'of the common pass': { pass_id: [commonPass] },
      'of the rare pass': { pass_id: [rarePass] },
      'of the common status': { status: ['sent'] },
      'of the rare status': { status: ['skipped'] },
      'of a batch': { pass_message_batch_id: [crowdId('pmb', 0)] },
      'of a batch, of the rare status': {
        pass_message_batch_id: [crowdId('pmb', 0)],
        status: ['skipped'],
      },
    }),
    ...lists('pass message batches', 'pmb', listPassMessageBatches, {
      '': {},
      'of a time': later,
      'of the common status': { status: ['completed'] },
      'of the rare status': { status: ['canceled'] },
    }),
    ...lists('cardholders', 'chd', listCardholders, {
      '': {},
      'of a time': later,
      'of the common type': { type: ['individual'] },
      'of the rare type': { type: ['company'] },
      'of the common status': { status: ['active'] },
      'of the rare status': { status: ['inactive'] },
      'of the rare type and status': { type: ['company'], status: ['inactive'] },
    }),
    ...lists('card programs', 'cprg', listCardPrograms, { '': {}, 'of a time': later }),
    ...lists('spending control drafts', 'scd', listDrafts, {
      '': {},
      'of a time': later,
      'of the common status': { status: ['draft'] },
      'of the rare status': { status: ['archived'] },
    }),
    ...lists('spending control versions', 'scv', listVersions, {
      '': { draft_id: [crowdId('scd', 0)] },
      'of a time': { ...later, draft_id: [crowdId('scd', 0)] },
    }),
    ...lists('spending control backtests', 'scb', listBacktests, {
      '': {},
      'of a time': later,
      'of the common draft': { spending_control_draft_id: [crowdId('scd', 0)] },
      'of the rare draft': { spending_control_draft_id: [crowdId('scd', 1)] },
    }),
    ...lists('spending control flips', 'scf', listFlips, {
      '': { backtest_id: [crowdId('scb', 0)] },
      'of a kind': { backtest_id: [crowdId('scb', 0)], change: ['declined_to_approved'] },
    }),
    ...lists('cards', 'card', listCards, {
      '': {},
      'of a time': later,
      'of the common status': { status: ['active'] },
      'of the rare status': { status: ['canceled'] },
      'of no status': { status: ['inactive'] },
      'of the rare type': { type: ['physical'] },
      'of the common cardholder': { cardholder_id: [crowdId('chd', 0)] },
      'of the rare cardholder': { cardholder_id: [crowdId('chd', 1)] },
      'of the rare cardholder, status and type': {
        cardholder_id: [crowdId('chd', 1)],
        status: ['canceled'],
        type: ['physical'],
      },
    }),
    ...lists('card transactions', 'ctx', listCardTransactions, {
      '': {},
      'of a time': later,
      'of the common status': { status: ['cleared'] },
      'of the rare status': { status: ['reversed'] },
      'of no status': { status: ['expired'] },
      'of the rare type': { type: ['cash_withdrawal'] },
      'of the common card': { card_id: [crowdId('card', 0)] },
      'of the rare card': { card_id: [crowdId('card', 1)] },
      'of the rare card, status and type': {
        card_id: [crowdId('card', 1)],
        status: ['reversed'],
        type: ['cash_withdrawal'],
      },
      'of the common cardholder': { cardholder_id: [crowdId('chd', 0)] },
      'of the rare cardholder': { cardholder_id: [crowdId('chd', 1)] },
      'of the common category': { category_code: ['5812'] },
      'of the rare category': { category_code: ['4121'] },
      'of both categories': { category_code: ['4121', '5812'] },
      'of the rare card, of the common category': {
        card_id: [crowdId('card', 1)],
        category_code: ['5812'],
      },
    }),
    ...lists('authorization decisions', 'azd', listDecisions, {
      '': {},
      'of a time': later,
      'of the common status': { status: ['responded'] },
      'of the rare status': { status: ['timed_out'] },
      'of no status': { status: ['errored'] },
      'of a reason': { stand_in_reason: ['timed_out'] },
      'of the common transaction': { card_transaction_id: [crowdId('ctx', 0)] },
      'of the rare transaction, of the rare status': {
        card_transaction_id: [crowdId('ctx', 1)],
        status: ['timed_out'],
      },
    }),
    ...lists('disputes', 'dsp', listDisputes, {
      '': {},
      'of a time': later,
      'of the common status': { status: ['withdrawn'] },
      'of the rare status': { status: ['lost'] },
      'of no status': { status: ['won'] },
      'of the common reason': { reason: ['fraudulent'] },
      'of the rare reason': { reason: ['duplicate'] },
      'of the common transaction': { card_transaction_id: [crowdId('ctx', 0)] },
      'of the rare transaction, status and reason': {
        card_transaction_id: [crowdId('ctx', 1)],
        status: ['lost'],
        reason: ['duplicate'],
      },
    }),
    ...lists('payout destinations', 'pod', listDestinations, {
      '': {},
      'of a time': later,
      'of the common status': { status: ['active'] },
      'of the rare status': { status: ['disabled'] },
      'of no status': { status: ['denied'] },
      'of the common type': { type: ['usdc_address'] },
      'of the rare type, of the common status': { type: ['bank_account'], status: ['active'] },
    }),
    ...lists('payouts', 'po', listPayouts, {
      '': {},
      'of a time': later,
      'of the common status': { status: ['paid'] },
      'of the rare status': { status: ['failed'] },
      'of no status': { status: ['returned'] },
      'to the common destination': { destination_id: [crowdId('pod', 0)] },
      'to the rare destination, of the rare status': {
        destination_id: [crowdId('pod', 1)],
        status: ['failed'],
      },
      'of a settlement': { settlement_id: [crowdId('stl', 7)] },
      'of a settlement, in another status': { settlement_id: [crowdId('stl', 7)], status: ['failed'] },
    }),
    ...lists('balance entries', 'len', listBalanceEntries, {
      '': { account },
      'of a time': { account, ...later },
      'of the common kind': { account, kind: ['card_refund'] },
      'of the rare kind': { account, kind: ['card_transaction'] },
      'of no kind': { account, kind: ['adjustment'] },
      'of two kinds': { account, kind: ['card_refund', 'card_transaction'] },
      'of the rare kind, of a time': { account, kind: ['card_transaction'], ...later },
      'of a source': { account, source_id: [crowdId('ctx', 1)] },
      'of a source, of the rare kind': {
        account,
        source_id: [crowdId('ctx', 1)],
        kind: ['card_transaction'],
      },
    }),
    ...lists('settlements', 'stl', listSettlements, {
      '': {},
      'of a time': later,
      'of the common status': { status: ['settled'] },
      'of the rare status': { status: ['failed'] },
      'of no status': { status: ['open'] },
      'of two statuses': { status: ['pending', 'settled'] },
    }),
    ...lists('settlement lines', 'sln', listLines, {
      'of the common settlement': { settlement_id: [crowdId('stl', 0)] },
      'of the rare settlement': { settlement_id: [crowdId('stl', 1)] },
      'of the common type': { settlement_id: [crowdId('stl', 0)], type: ['card_transaction'] },
      'of the rare type': { settlement_id: [crowdId('stl', 0)], type: ['dispute'] },
      'of no type': { settlement_id: [crowdId('stl', 0)], type: ['adjustment'] },
      'of two types': { settlement_id: [crowdId('stl', 0)], type: ['dispute', 'card_transaction'] },
      'of a source': { settlement_id: [crowdId('stl', 0)], source_id: [crowdId('ctx', 1)] },
      'of a source, of the rare type': {
        settlement_id: [crowdId('stl', 0)],
        source_id: [crowdId('ctx', 1)],
        type: ['dispute'],
      },
    }),
    ...lists('sandboxes', 'sbx', listSandboxes, { '': {}, 'of a time': later }),
    ...lists('snapshots', 'snap', listSnapshots, {
      'of the common sandbox': { sandbox_id: [crowdId('sbx', 0)] },
      'of a time': { sandbox_id: [crowdId('sbx', 0)], ...later },
    }),
    ...lists('promotions', 'prm', listPromotions, { '': {}, 'of a time': later }),
    ...lists('treasury reports', 'trp', listReports, {
      '': { version: '2026-05-19' },
      'of a time': { version: '2026-05-19', ...later },
    }),
    ...lists('provisioning payloads', 'ppl', listPayloads, {
      'of the common card': { card_id: [crowdId('card', 0)] },
      'of the rare card': { card_id: [crowdId('card', 1)] },
    }),
    ...lists('wallet tokens', 'wtk', listWalletTokens, {
      '': {},
      'of a time': later,
      'of the common card': { card_id: [crowdId('card', 0)] },
      'of the rare card': { card_id: [crowdId('card', 1)] },
    }),
    ...lists('sanctions alerts', 'sal', listAlerts, {
      '': {},
      'of a time': later,
      'of the common status': { status: ['false_positive'] },
      'of the rare status': { status: ['open'] },
      'of a cardholder': { cardholder_id: [crowdId('chd', 1)] },
      'of a cardholder, of the rare status': { cardholder_id: [crowdId('chd', 1)], status: ['open'] },
    }),
    ...lists('events', 'evt', listEvents, {
      'of nearly all types': { types: TYPES, areMost: true },
      'of the common type': { types: ['pass.created'], areMost: false },
      'of the rare type': { types: ['pass.revoked'], areMost: false },
      'of some types': { types: TYPES, areMost: false },
      'of a time': { types: TYPES, areMost: true, ...later },
    }),
    ...lists('requests', 'req', listRequests, {
      '': {},
      'of a time': later,
      'of the common path': { paths: ['/v1/passes'] },
      'of the rare path': { paths: ['/v1/me'] },
      'of the common status': { statuses: ['200'] },
      'of the rare statuses': { statuses: ['400', '404'] },
      'of the common key': { keyIds: [commonActor] },
      'of the rare key': { keyIds: [rareActor] },
      'of one request': { ids: [crowdId('req', 7)] },
      'of one request, of the common status': { ids: [crowdId('req', 7)], statuses: ['200'] },
      'of all, of the common method': { methods: ['GET'] },
      'of all, of the rare method and operation': { methods: ['PUT'], operations: ['getMe'] },
      'of the common path, of the rare status': { paths: ['/v1/passes'], statuses: ['404'] },
      'of the rare path, of the common status': { paths: ['/v1/me'], statuses: ['200'] },
      'of the common path, of the rare key': { paths: ['/v1/passes'], keyIds: [rareActor] },
      'of the common path, status and key': {
        paths: ['/v1/passes'],
        statuses: ['200'],
        keyIds: [commonActor],
      },
    }),
    ...lists('endpoints', 'whe', listEndpoints, {
      '': {},
      enabled: { status: ['enabled'] },
      disabled: { status: ['disabled'] },
    }),
    attempts('', {}),
    attempts('of a time', later),
    attempts('succeeded', { status: ['succeeded'] }),
    attempts('failed', { status: ['failed'] }),
    attempts('of an event', { event_id: [event] }),
    attempts('of an event, succeeded', { event_id: [event], status: ['succeeded'] }),
    ...lists('audit entries', 'aud', listAudit, {
      '': {},
      'of a time': later,
      'of the common actor': { actor_id: [commonActor] },
      'of the rare actor': { actor_id: [rareActor] },
      'of the common action': { action: ['pass.created'] },
      'of the rare action': { action: ['pass.revoked'] },
      'of a target': { target_id: [crowdId('pass', 7)] },
      'of the common action and the rare actor': { action: ['pass.created'], actor_id: [rareActor] },
      'of the rare action and the common actor': { action: ['pass.revoked'], actor_id: [commonActor] },
      'of two actions': { action: ['pass.created', 'pass.revoked'] },
    }),
  ]
}

/** First pages, and pages on both sides of a boundary in the middle, in both orders. */
export function everyPage(
  { prefix }: ListedWith,
  { from, rows }: Crowd,
): (readonly [string, RequestedPage])[] {
  const half = Math.floor(rowsOf(prefix, rows) / 2)
  const boundary = {
    created: from + half * 1000,
    id: crowdId(prefix, half),
    side: 'after',
  } as const
  return (['asc', 'desc'] as const).flatMap((order) => [
    [`${order}, first page`, { limit: 25, order, backward: false }] as const,
    [`${order}, after the middle`, { limit: 25, order, backward: false, boundary }] as const,
    [`${order}, before the middle`, { limit: 25, order, backward: true, boundary }] as const,
  ])
}

/** Counts with each kind of filter. @param now service time. */
export function everyCount(db: Database, { tenantId, commonTemplate, rareTemplate }: Crowd, now: number) {
  const filters: Readonly<Record<string, Partial<PassFilter>>> = {
    '': {},
    'with archived': { include_archived: true },
    issued: { status: ['issued'] },
    revoked: { status: ['revoked'] },
    'expired, with archived': { status: ['expired'], include_archived: true },
    'of the common template': { template_id: [commonTemplate] },
    'issued, of the rare template': { template_id: [rareTemplate], status: ['issued'] },
  }
  return Object.entries(filters).map(([name, filter]) => ({
    name: `passes ${name}`,
    read: () => countPasses(db, tenantId, { ...ALL, ...filter }, now),
  }))
}
