/** Live pays on no test chain and with no key that everyone knows, unless the operator has allowed it, which pages then say. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addBanner } from '../../../runtime/dashboard/html/banner.ts'
import { sendPage, writeNotice } from '../../../runtime/dashboard/html/layout.ts'
import { openChains } from '../../../runtime/money/chain/open-chains.ts'
import { enqueueTransfer } from '../../../runtime/money/chain/transfers.ts'
import type { ChainSettings } from '../../../runtime/platform/chain-settings.ts'
import { newId } from '../../../runtime/platform/ids.ts'
import { readSettings } from '../../../runtime/platform/settings.ts'
import { readyLine, readyWords } from '../../../runtime/process/ready.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { until } from '../../support/programs.ts'
import { startSigner } from './external-signer.ts'
import { KEY, type Network, PAYER, someAddress, startNetwork } from './network.ts'

let database: TestDatabase
let network: Network
beforeAll(async () => {
  ;[database, network] = await Promise.all([openTestDatabase(), startNetwork()])
})
afterAll(async () => {
  await network.stop()
  await database.close()
})

const log = pino({ level: 'silent' })
const OWN_KEY = `0x${'5a'.repeat(32)}`
const open = (change: Partial<ChainSettings>) =>
  openChains(
    {
      ...{ rpcUrl: network.anvil.url, usdc: network.token, confirmations: 3, maxFee: 10n ** 12n },
      ...{ signer: { kind: 'key', key: OWN_KEY }, production: true },
      ...change,
    },
    database.control,
    log,
  )
const ON_BASE = { rpcUrl: 'http://127.0.0.1:1', chainId: 8453 }
const PUBLIC = { kind: 'key', key: KEY } as const
const TEST_CHAIN =
  'SVC_CHAIN_RPC_URL: live payouts use eip155:31337, a test chain on which tokens have no value'
const PUBLIC_KEY = `SVC_PAYOUT_KEY: live payouts are sent from ${PAYER}, whose private key is publicly known`

test.each([
  ['a test chain', {}, TEST_CHAIN],
  ['a public key on a test chain', { signer: PUBLIC }, TEST_CHAIN],
  ['a public key', { ...ON_BASE, signer: PUBLIC }, PUBLIC_KEY],
  ['a public key, for development', { ...ON_BASE, signer: PUBLIC, production: false }, PUBLIC_KEY],
])('a live payout configuration with %s is refused', async (_, change, sentence) => {
  await expect(open(change)).rejects.toThrow(`${sentence}. To allow it, set SVC_ALLOW_TEST_CHAIN=1`)
})

test('an allowed test chain or public key is named in a warning', async () => {
  const allowTestChain = true
  expect((await open({ allowTestChain, signer: PUBLIC })).warnings).toEqual([TEST_CHAIN, PUBLIC_KEY])
  expect((await open({ allowTestChain })).warnings).toEqual([TEST_CHAIN])
  expect((await open({ ...ON_BASE, allowTestChain })).warnings).toEqual([
    'SVC_ALLOW_TEST_CHAIN: live payouts may use a test chain or a publicly known key',
  ])
  expect((await open({ ...ON_BASE })).warnings).toEqual([])
  const { of, warnings } = await open({ production: false })
  expect([of.live?.id, warnings]).toEqual([31337, []])
})

test('the setting is read', () => {
  expect(readSettings({ SVC_ALLOW_TEST_CHAIN: '1' }).chain.allowTestChain).toBe(true)
  expect(readSettings({}).chain.allowTestChain).toBeUndefined()
})

test('an external signer with a public key signs nothing on a chain of real money', async () => {
  const server = await startSigner(KEY as `0x${string}`, 'token')
  const chains = await open({ ...ON_BASE, signer: { kind: 'external', url: server.url, token: 'token' } })
  const job = chains.start({
    control: database.control,
    pools: database,
    clock: database.clock,
    openListener: async () => ({ signable: async () => true, changed: async () => {} }),
    log,
  })
  const id = newId('po')
  const transfer = { id, to: `eip155:8453:${someAddress(1)}`, amountCents: 100 }
  await database.live.transaction(async (db) => enqueueTransfer(db, 'ten_test', transfer, Date.now()))
  const problem = await until('the payout to be held up', async () => {
    const text = 'SELECT problem FROM live.chain_transfers WHERE id = $1'
    return (
      (await database.control.query<{ problem: string | null }>({ text }, [id])).rows[0]?.problem ?? undefined
    )
  })
  expect(problem).toMatch(
    /^network_error: SVC_PAYOUT_SIGNER_URL: .* is publicly known\. To allow it, set SVC_ALLOW_TEST_CHAIN=1/,
  )
  await job.stop()
  server.close()
})

test('pages and the ready line have the warnings, and nothing without any', async () => {
  const app = express()
  app.use(addBanner([TEST_CHAIN]))
  app.get('/page', (_request, response) => {
    response.set('ETag', 'W/"1"')
    sendPage(response, 200, writeNotice('Title', 'Text'))
  })
  app.get('/data', (_request, response) => void response.json({ text: '<main' }))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const get = (path: string) => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
  const page = await get('/page')
  expect(await page.text()).toContain(`<aside class="notice warn"><p>${TEST_CHAIN}.</p></aside>\n<main`)
  expect(page.headers.get('ETag')).toBe('W/"1-banner"')
  expect(await (await get('/data')).text()).toBe('{"text":"<main"}')
  server.close()
  const baseUrls = { sandbox: 's', live: 'l', console: 'c' }
  const ready = { baseUrls, demo: undefined, chains: { sandbox: undefined, live: undefined } }
  expect(JSON.parse(readyLine({ ...ready, warnings: [TEST_CHAIN] }))).toMatchObject({
    warnings: [TEST_CHAIN],
  })
  expect(readyLine({ ...ready, warnings: [] })).not.toContain('warnings')
  expect(readyWords({ ...ready, warnings: [TEST_CHAIN] })).toContain(TEST_CHAIN)
})
