/** Every list of every resource: each filter with a rare and a common value, both orders, first and middle pages. */

import { listPromotions } from '../../runtime/account/promotions/queries.ts'
import { listRequests } from '../../runtime/api/request-log-queries.ts'
import { listAlerts } from '../../runtime/cards/cardholders/alerts.ts'
import { listCardholders } from '../../runtime/cards/cardholders/queries.ts'
import { listCards } from '../../runtime/cards/cards/queries.ts'
import { listDecisions } from '../../runtime/cards/decisions/queries.ts'
import { listDisputes } from '../../runtime/cards/disputes/queries.ts'
import { listCardPrograms } from '../../runtime/cards/programs/queries.ts'
import { listPayloads } from '../../runtime/cards/provisioning/queries.ts'
import { listCardTransactions } from '../../runtime/cards/transactions/queries.ts'
import { listWalletTokens } from '../../runtime/cards/wallet-tokens/queries.ts'
import type { Database } from '../../runtime/database/database.ts'
import type { CreatedRange, RequestedPage } from '../../runtime/database/page.ts'
import { listAttempts } from '../../runtime/events/delivery-attempts/queries.ts'
import { listEvents } from '../../runtime/events/emit/queries.ts'
import { listEndpoints } from '../../runtime/events/webhook-endpoints/queries.ts'
import { listDestinations } from '../../runtime/money/destinations/queries.ts'
import { listPayouts } from '../../runtime/money/payouts/queries.ts'
import { listReports } from '../../runtime/money/reports/queries.ts'
import { listLines, listSettlements } from '../../runtime/money/settlement-lines/queries.ts'
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
  const later = { created: { gte: crowd.from + 1000 * (crowd.rows / 5) } }
  const passes = (name: string, filter: Partial<PassFilter>): ListedWith => ({
    name: `passes ${name}`,
    prefix: 'pass',
    read: (page) => listPasses(db, tenantId, { ...ALL, includeArchived: false, ...filter }, page, now),
  })
  const lists = <Filter extends object>(
    resource: string,
    prefix: string,
    list: (
      db: Database,
      tenantId: string,
      filter: typeof ALL & Filter,
      page: RequestedPage,
    ) => Promise<unknown>,
    filters: Readonly<Record<string, Filter>>,
  ): ListedWith[] =>
    Object.entries(filters).map(([name, filter]) => ({
      name: `${resource} ${name}`,
      prefix,
      read: (page) => list(db, tenantId, { ...ALL, ...filter }, page),
    }))
  const attempts = (name: string, filter: object): ListedWith => ({
    name: `delivery attempts ${name}`,
    prefix: 'wdla',
    read: (page) => listAttempts(db, tenantId, commonEndpoint, { ...ALL, ...filter }, page),
  })
  return [
    passes('', {}),
    passes('of a time', later),
    passes('with archived', { includeArchived: true }),
    ...['issued', 'revoked', 'redeemed', 'expired'].flatMap((status) => [
      passes(status, { statuses: [status] }),
      passes(`${status}, with archived`, { statuses: [status], includeArchived: true }),
      passes(`${status}, of the common template`, { statuses: [status], templateIds: [commonTemplate] }),
      passes(`${status}, of the rare template`, { statuses: [status], templateIds: [rareTemplate] }),
    ]),
    passes('issued or revoked', { statuses: ['issued', 'revoked'] }),
    passes('expired or issued', { statuses: ['expired', 'issued'] }),
    passes('of the common template', { templateIds: [commonTemplate] }),
    passes('of the rare template', { templateIds: [rareTemplate] }),
    passes('of both templates, with archived', {
      templateIds: [commonTemplate, rareTemplate],
      includeArchived: true,
    }),
    ...lists('templates', 'tpl', listTemplates, {
      '': {},
      'of a time': later,
      'of the common kind': { kinds: ['loyalty'] },
      'of the rare kind': { kinds: ['coupon'] },
      active: { statuses: ['active'] },
      archived: { statuses: ['archived'] },
      'of the common kind, archived': { kinds: ['loyalty'], statuses: ['archived'] },
      'of two kinds': { kinds: ['coupon', 'loyalty'] },
    }),
    ...lists('scans', 'scan', listScans, {
      '': {},
      'of a time': later,
      'of the common pass': { passIds: [commonPass] },
      'of the rare pass': { passIds: [rarePass] },
      'of the common result': { results: ['accepted'] },
      'of the rare result': { results: ['unknown'] },
      'of two results': { results: ['revoked', 'accepted'] },
      'of the common pass, of the rare result': { passIds: [commonPass], results: ['revoked'] },
      'of both passes, of a time': { passIds: [commonPass, rarePass], ...later },
    }),
    ...lists('cardholders', 'chd', listCardholders, {
      '': {},
      'of a time': later,
      'of the common type': { types: ['individual'] },
      'of the rare type': { types: ['company'] },
      'of the common status': { statuses: ['active'] },
      'of the rare status': { statuses: ['inactive'] },
      'of the rare type and status': { types: ['company'], statuses: ['inactive'] },
    }),
    ...lists('card programs', 'cprg', listCardPrograms, { '': {}, 'of a time': later }),
    ...lists('cards', 'card', listCards, {
      '': {},
      'of a time': later,
      'of the common status': { statuses: ['active'] },
      'of the rare status': { statuses: ['canceled'] },
      'of no status': { statuses: ['inactive'] },
      'of the rare type': { types: ['physical'] },
      'of the common cardholder': { cardholderIds: [crowdId('chd', 0)] },
      'of the rare cardholder': { cardholderIds: [crowdId('chd', 1)] },
      'of the rare cardholder, status and type': {
        cardholderIds: [crowdId('chd', 1)],
        statuses: ['canceled'],
        types: ['physical'],
      },
    }),
    ...lists('card transactions', 'ctx', listCardTransactions, {
      '': {},
      'of a time': later,
      'of the common status': { statuses: ['cleared'] },
      'of the rare status': { statuses: ['reversed'] },
      'of no status': { statuses: ['expired'] },
      'of the rare type': { types: ['cash_withdrawal'] },
      'of the common card': { cardIds: [crowdId('card', 0)] },
      'of the rare card': { cardIds: [crowdId('card', 1)] },
      'of the rare card, status and type': {
        cardIds: [crowdId('card', 1)],
        statuses: ['reversed'],
        types: ['cash_withdrawal'],
      },
      'of the common cardholder': { cardholderIds: [crowdId('chd', 0)] },
      'of the rare cardholder': { cardholderIds: [crowdId('chd', 1)] },
      'of the common category': { categoryCodes: ['5812'] },
      'of the rare category': { categoryCodes: ['4121'] },
      'of both categories': { categoryCodes: ['4121', '5812'] },
      'of the rare card, of the common category': {
        cardIds: [crowdId('card', 1)],
        categoryCodes: ['5812'],
      },
    }),
    ...lists('authorization decisions', 'azd', listDecisions, {
      '': {},
      'of a time': later,
      'of the common status': { statuses: ['responded'] },
      'of the rare status': { statuses: ['timed_out'] },
      'of no status': { statuses: ['errored'] },
      'of the common transaction': { transactionIds: [crowdId('ctx', 0)] },
      'of the rare transaction, of the rare status': {
        transactionIds: [crowdId('ctx', 1)],
        statuses: ['timed_out'],
      },
    }),
    ...lists('disputes', 'dsp', listDisputes, {
      '': {},
      'of a time': later,
      'of the common status': { statuses: ['withdrawn'] },
      'of the rare status': { statuses: ['lost'] },
      'of no status': { statuses: ['won'] },
      'of the common reason': { reasons: ['fraudulent'] },
      'of the rare reason': { reasons: ['duplicate'] },
      'of the common transaction': { transactionIds: [crowdId('ctx', 0)] },
      'of the rare transaction, status and reason': {
        transactionIds: [crowdId('ctx', 1)],
        statuses: ['lost'],
        reasons: ['duplicate'],
      },
    }),
    ...lists('payout destinations', 'pod', listDestinations, {
      '': {},
      'of a time': later,
      'of the common status': { statuses: ['active'] },
      'of the rare status': { statuses: ['disabled'] },
      'of no status': { statuses: ['denied'] },
      'of the common type': { types: ['usdc_address'] },
      'of the rare type, of the common status': { types: ['bank_account'], statuses: ['active'] },
    }),
    ...lists('payouts', 'po', listPayouts, {
      '': {},
      'of a time': later,
      'of the common status': { statuses: ['paid'] },
      'of the rare status': { statuses: ['failed'] },
      'of no status': { statuses: ['returned'] },
      'to the common destination': { destinationIds: [crowdId('pod', 0)] },
      'to the rare destination, of the rare status': {
        destinationIds: [crowdId('pod', 1)],
        statuses: ['failed'],
      },
      'of a settlement': { settlementIds: [crowdId('stl', 7)] },
      'of a settlement, in another status': { settlementIds: [crowdId('stl', 7)], statuses: ['failed'] },
    }),
    ...lists('settlements', 'stl', listSettlements, {
      '': {},
      'of a time': later,
      'of the common status': { statuses: ['settled'] },
      'of the rare status': { statuses: ['failed'] },
      'of no status': { statuses: ['open'] },
      'of two statuses': { statuses: ['pending', 'settled'] },
    }),
    ...lists('settlement lines', 'sln', listLines, {
      'of the common settlement': { settlementId: crowdId('stl', 0) },
      'of the rare settlement': { settlementId: crowdId('stl', 1) },
      'of the common type': { settlementId: crowdId('stl', 0), types: ['card_transaction'] },
      'of the rare type': { settlementId: crowdId('stl', 0), types: ['dispute'] },
      'of no type': { settlementId: crowdId('stl', 0), types: ['adjustment'] },
      'of two types': { settlementId: crowdId('stl', 0), types: ['dispute', 'card_transaction'] },
      'of a source': { settlementId: crowdId('stl', 0), sourceIds: [crowdId('ctx', 1)] },
      'of a source, of the rare type': {
        settlementId: crowdId('stl', 0),
        sourceIds: [crowdId('ctx', 1)],
        types: ['dispute'],
      },
    }),
    ...lists('promotions', 'prm', listPromotions, { '': {}, 'of a time': later }),
    ...lists('treasury reports', 'trp', listReports, { '': {}, 'of a time': later }),
    ...lists('provisioning payloads', 'ppl', listPayloads, {
      'of the common card': { cardId: crowdId('card', 0) },
      'of the rare card': { cardId: crowdId('card', 1) },
    }),
    ...lists('wallet tokens', 'wtk', listWalletTokens, {
      '': {},
      'of a time': later,
      'of the common card': { cardIds: [crowdId('card', 0)] },
      'of the rare card': { cardIds: [crowdId('card', 1)] },
    }),
    ...lists('sanctions alerts', 'sal', listAlerts, {
      '': {},
      'of a time': later,
      'of the common status': { statuses: ['false_positive'] },
      'of the rare status': { statuses: ['open'] },
      'of a cardholder': { cardholderIds: [crowdId('chd', 1)] },
      'of a cardholder, of the rare status': { cardholderIds: [crowdId('chd', 1)], statuses: ['open'] },
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
      enabled: { statuses: ['enabled'] },
      disabled: { statuses: ['disabled'] },
    }),
    attempts('', {}),
    attempts('of a time', later),
    attempts('succeeded', { statuses: ['succeeded'] }),
    attempts('failed', { statuses: ['failed'] }),
    attempts('of an event', { eventIds: [event] }),
    attempts('of an event, succeeded', { eventIds: [event], statuses: ['succeeded'] }),
    ...lists('audit entries', 'aud', listAudit, {
      '': {},
      'of a time': later,
      'of the common actor': { actorIds: [commonActor] },
      'of the rare actor': { actorIds: [rareActor] },
      'of the common action': { actions: ['pass.created'] },
      'of the rare action': { actions: ['pass.revoked'] },
      'of a target': { targetIds: [crowdId('pass', 7)] },
      'of the common action and the rare actor': { actions: ['pass.created'], actorIds: [rareActor] },
      'of the rare action and the common actor': { actions: ['pass.revoked'], actorIds: [commonActor] },
      'of two actions': { actions: ['pass.created', 'pass.revoked'] },
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
    'with archived': { includeArchived: true },
    issued: { statuses: ['issued'] },
    revoked: { statuses: ['revoked'] },
    'expired, with archived': { statuses: ['expired'], includeArchived: true },
    'of the common template': { templateIds: [commonTemplate] },
    'issued, of the rare template': { templateIds: [rareTemplate], statuses: ['issued'] },
  }
  return Object.entries(filters).map(([name, filter]) => ({
    name: `passes ${name}`,
    read: () => countPasses(db, tenantId, { ...ALL, includeArchived: false, ...filter }, now),
  }))
}
