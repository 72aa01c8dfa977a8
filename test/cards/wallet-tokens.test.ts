/** Cards on phones: how wallet tokens come to be, change, and follow their card. */
import { beforeEach, describe, expect, test } from 'vitest'
import { payloadWorker } from '../../runtime/cards/provisioning/stand-in-job.ts'
import { refusal, speakFor } from '../api/fixtures.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { eventsOf, make, makeCard, patch, SHIPPING } from './fixtures.ts'

const service = useService({ poolSize: 12 })
let tenantId: string
let send: Send
let admin: Send

beforeEach(async () => {
  tenantId = await makeTenant(service)
  send = await speakFor(service, tenantId)
  admin = speak(service.urls.sandbox, {
    secret: (await makeKey(service, tenantId, { scope: 'admin' })).secret,
  })
})

const GOOGLE = { wallet: 'google_pay', client_device_id: 'dev-1', client_wallet_account_id: 'wal-1' }
const payloadsOf = (cardId: string) => `/v1/cards/${cardId}/provisioning_payloads`
const phones = () =>
  payloadWorker({ ...service, log: strictLog, wakeUpChannel: { publish: () => {} } }).runOnce()

/** A card with a token of a phone. */
async function makeToken(content: object = {}) {
  const card = await makeCard(send, content)
  if (card.status === 'inactive') await send(`/v1/cards/${card.id}/activate`, { method: 'POST' })
  const payload = await make(send, payloadsOf(card.id), GOOGLE)
  await phones()
  const [token] = (await send(`/v1/wallet_tokens?card_id=${card.id}`)).body.data
  return { card, payload, token, path: `/v1/wallet_tokens/${token.id}` }
}

describe('a wallet token', () => {
  test('a wallet token is made once of each payload, by the sandbox’s phones', async () => {
    const card = await makeCard(send)
    const payload = await make(send, payloadsOf(card.id), GOOGLE)
    await Promise.all([phones(), phones(), phones()])
    const { data } = (await send(`/v1/wallet_tokens?card_id=${card.id}`)).body
    expect(data).toHaveLength(1)
    expect(data[0]).toMatchObject({
      object: 'wallet_token',
      card_id: card.id,
      provisioning_payload_id: payload.id,
      wallet: 'google_pay',
      status: 'requested',
    })
    const used = (await send(`${payloadsOf(card.id)}/${payload.id}`)).body
    expect(used).toMatchObject({ wallet_token_id: data[0].id, consumed_at: '2026-06-01T12:00:00.000Z' })
    expect(await eventsOf(send)).toEqual(['cardholder.created', 'card.created', 'card.wallet_token.created'])
    expect((await admin('/v1/audit_log?action=wallet_token.created')).body.data).toMatchObject([
      { actor: { type: 'system' }, target_id: data[0].id },
    ])
  })

  test('a wallet token is not made where the card has ended meanwhile', async () => {
    const card = await makeCard(send)
    await make(send, payloadsOf(card.id), GOOGLE)
    await send(`/v1/cards/${card.id}/cancel`, { method: 'POST' })
    await phones()
    expect((await send('/v1/wallet_tokens')).body.data).toEqual([])
  })

  test.each([
    [[], { requested: 409, active: 200, suspended: 409, deleted: 200 }],
    [['active'], { active: 'same', suspended: 200, deleted: 200 }],
    [['active', 'suspended'], { active: 200, suspended: 'same', deleted: 200 }],
    [['deleted'], { active: 409, suspended: 409, deleted: 409 }],
  ])('a wallet token that was %o can become %o', async (way, wanted) => {
    for (const [status, outcome] of Object.entries(wanted)) {
      const { path } = await makeToken()
      for (const step of way) await patch(send, path, { status: step })
      const events = (await eventsOf(send)).length
      const answer = await patch(send, path, { status })
      // No caller may ask for that.
      const expected = status === 'requested' ? 422 : outcome === 'same' ? 200 : outcome
      expect([status, answer.status]).toEqual([status, expected])
      if (expected === 200) expect(answer.body).toEqual((await send(path)).body)
      if (expected === 200) expect(answer.body.status).toBe(status)
      const told = (await eventsOf(send)).slice(events)
      expect(told).toEqual(outcome === 200 ? ['card.wallet_token.updated'] : [])
    }
  })

  test.each([
    [[], 'google_pay', 'transaction_not_allowed'],
    [['active'], 'google_pay', undefined],
    [['active'], 'apple_pay', 'transaction_not_allowed'],
    [['active', 'suspended'], 'google_pay', 'transaction_not_allowed'],
    [['active', 'suspended', 'active'], 'google_pay', undefined],
    [['active', 'deleted'], 'google_pay', 'transaction_not_allowed'],
    [['active', 'suspended'], undefined, undefined],
  ])('a wallet token that was %o declines a payment with %s for %s', async (way, wallet, code) => {
    const { card, path } = await makeToken()
    for (const step of way) await patch(send, path, { status: step })
    await send('/v1/test/funding', { body: { amount: 1000 } })
    const body = {
      ...{ card_id: card.id, amount: 1000, ...(wallet && { wallet }) },
      merchant: { name: 'Harbor Diner', category_code: '5812' },
    }
    const made = await make(send, '/v1/test/cards/simulate_authorization', body)
    expect(made.status).toBe(code ? 'declined' : 'authorized')
    expect([made.wallet, made.decline_reason?.code]).toEqual([wallet ?? null, code])
    const judged = made.rules.filter(({ rule }: { rule: string }) => rule === 'wallet_token_active')
    expect(judged).toEqual(
      wallet ? [{ rule: 'wallet_token_active', outcome: code ? 'failed' : 'passed' }] : [],
    )
    const inOld = (
      await send(`/v1/card_transactions/${made.id}`, { headers: { 'Service-Version': '2025-11-01' } })
    ).body
    expect(inOld.decline_reason?.code).toBe(code)
  })

  test('a wallet token is told of with what it was before', async () => {
    const { path } = await makeToken()
    await patch(send, path, { status: 'active' })
    const [event] = (await send('/v1/events?type=card.wallet_token.updated')).body.data
    expect(event).toMatchObject({
      data: { wallet_token: { status: 'active' } },
      previous_attributes: { status: 'requested' },
    })
  })

  test('a wallet token ends with its card', async () => {
    const { card, path } = await makeToken()
    await send(`/v1/cards/${card.id}/cancel`, { method: 'POST' })
    expect((await send(path)).body.status).toBe('deleted')
    expect((await eventsOf(send)).slice(-2)).toEqual(['card.canceled', 'card.wallet_token.updated'])
  })

  test('a wallet token moves to the card that replaces its own', async () => {
    const { card, path, token } = await makeToken()
    await patch(send, path, { status: 'active' })
    const next = await make(send, `/v1/cards/${card.id}/replace`, { reason: 'stolen' })
    expect((await send(path)).body).toMatchObject({ card_id: next.id, status: 'active' })
    expect((await send(`/v1/wallet_tokens?card_id=${next.id}`)).body.data).toMatchObject([{ id: token.id }])
    expect((await send(`/v1/wallet_tokens?card_id=${card.id}`)).body.data).toEqual([])
    const [event] = (await send('/v1/events?limit=1')).body.data
    expect(event).toMatchObject({
      type: 'card.wallet_token.updated',
      previous_attributes: { card_id: card.id },
    })
  })

  test('a wallet token moves when the card that replaces a damaged one is activated, or the damaged one is canceled before', async () => {
    for (const verb of ['activate', 'cancel']) {
      const { card, path } = await makeToken({ type: 'physical', shipping: SHIPPING })
      const next = await make(send, `/v1/cards/${card.id}/replace`, { reason: 'damaged' })
      expect((await send(path)).body.card_id).toBe(card.id)
      await send(`/v1/cards/${verb === 'activate' ? next.id : card.id}/${verb}`, { method: 'POST' })
      expect((await send(path)).body).toMatchObject({ card_id: next.id, status: 'requested' })
    }
  })

  test('a wallet token that does not exist is not found; one in live needs a verified business', async () => {
    const missing = '/v1/wallet_tokens/wtk_00000000000000000000000000'
    expect(refusal(await send(missing))).toEqual([404, 'not_found', 'not_found'])
    expect(refusal(await patch(send, missing, { status: 'active' }))).toEqual([404, 'not_found', 'not_found'])
    const live = await speakFor(service, tenantId, 'live')
    const unverified = [403, 'permission_error', 'business_verification_required']
    expect(refusal(await patch(live, missing, { status: 'active' }))).toEqual(unverified)
    expect(refusal(await live(payloadsOf('card_00000000000000000000000000'), { body: GOOGLE }))).toEqual(
      unverified,
    )
  })
})
