/** A service as it is started: what its API is asked for stands at Google Wallet soon after. */
import { createPublicKey } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { current } from '../../../generated/versions.ts'
import {
  type GoogleStandIn,
  startGoogleStandIn,
} from '../../../runtime/passes/wallets/fakes/google-wallet.ts'
import { openGoogleSigner } from '../../../runtime/passes/wallets/render/google/signer.ts'
import { issuePass, makeTemplate } from '../../api/fixtures.ts'
import { type BareDatabase, createTestDatabase } from '../../support/database.ts'
import { endPrograms, startService, until } from '../../support/programs.ts'
import { speak } from '../../support/service.ts'
import { proveTicket } from './merchant.ts'

let database: BareDatabase
let google: GoogleStandIn
const dataDir = mkdtempSync(join(tmpdir(), 'svc-google-'))
const signer = openGoogleSigner({ dataDir })

beforeAll(async () => {
  database = await createTestDatabase()
  const accounts = new Map([[signer.email, createPublicKey(signer.key)]])
  google = await startGoogleStandIn({ issuerId: signer.issuerId, accounts, fetchPictures: true })
})
afterEach(endPrograms)
afterAll(async () => {
  await google.close()
  await database.drop()
  rmSync(dataDir, { recursive: true })
})

interface Ready {
  readonly sandbox_base_url: string
  readonly console_url: string
  readonly tenant_id: string
  readonly keys: { readonly sandbox_secret: string }
}

test('the service sends template and pass, PATCH and revocation, and takes a callback; a ticket speaks in both wallets', {
  timeout: 120_000,
}, async () => {
  const { wallet, token, keys } = google.urls
  const service = startService(
    {
      DATABASE_URL: database.url,
      SVC_PEPPER: database.pepper,
      DATA_DIR: dataDir,
      APPLE_PASS_NFC: 'on',
      GOOGLE_WALLET_URL: wallet,
      GOOGLE_TOKEN_URL: token,
      GOOGLE_CALLBACK_KEYS_URL: keys,
    },
    ['--json', '--demo'],
  )
  const ready = (await service.ready()) as unknown as Ready
  const send = speak(ready.sandbox_base_url, { secret: ready.keys.sandbox_secret, version: current })
  const templateId = await makeTemplate(send)
  const pass = await issuePass(send, templateId)
  const object = () => google.resource(`loyaltyObject/${signer.issuerId}.${pass.id}`)
  const untilObject = (like: object) =>
    until(`the object to be ${JSON.stringify(like)}`, () => {
      const found = JSON.stringify(object() ?? {})
      return Object.entries(like).every(([name, value]) =>
        found.includes(`"${name}":${JSON.stringify(value)}`),
      )
    })
  await untilObject({ state: 'ACTIVE' })
  expect(google.resource(`loyaltyClass/${signer.issuerId}.${templateId}`)).toMatchObject({
    programName: 'Coffee loyalty',
  })

  await send(`/v1/passes/${pass.id}`, { method: 'PATCH', body: { fields: { points: '42' } } })
  await untilObject({ body: '42' })

  const posted = google.callbacks.write({
    classId: `${signer.issuerId}.${templateId}`,
    objectId: `${signer.issuerId}.${pass.id}`,
    eventType: 'save',
    nonce: 'once',
    recipientId: signer.issuerId,
  })
  const callback = `${ready.sandbox_base_url}/google/v1/callback/${ready.tenant_id}`
  const answer = await fetch(callback, { method: 'POST', body: JSON.stringify(posted) })
  expect(answer.status).toBe(200)
  expect((await send(`/v1/passes/${pass.id}`)).body).toMatchObject({
    status: 'installed',
    platforms: ['google'],
  })

  await send(`/v1/passes/${pass.id}/revoke`, { method: 'POST' })
  await untilObject({ state: 'INACTIVE' })
  await proveTicket(send, google, signer.issuerId, dataDir)
  expect(google.requests.filter(({ status }) => status >= 400)).toEqual([])
  const metrics = await (await fetch(`${ready.console_url}/metrics`)).text()
  expect(metrics).toMatch(/^svc_google_resources_total\{environment="sandbox",outcome="done"\} [1-9]/m)
  expect(metrics).toMatch(/^svc_google_visits_total\{environment="sandbox",outcome="done"\} [1-9]/m)
  for (const line of [
    'svc_google_resources_total{environment="sandbox",outcome="refused"} 0',
    'svc_google_events_behind{environment="live"} 0',
    'svc_google_failing{environment="sandbox"} 0',
    'svc_wallet_pushes_total{environment="sandbox",outcome="lost"} 0',
    'svc_wallet_push_age_seconds{environment="live"} 0',
    'svc_wallet_queue_failing{environment="sandbox"} 0',
    'svc_work_failing{environment="live",work="pass_expiry"} 0',
    'svc_work_turns_total{environment="sandbox",work="hold_expiry",outcome="failed"} 0',
  ]) {
    expect(metrics).toContain(`${line}\n`)
  }
  expect((await service.end()).code).toBe(0)
})
