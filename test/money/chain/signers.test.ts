/** Who signs: keys in files, signers elsewhere; and the contract that signatures are for. */
import { readFileSync } from 'node:fs'
import { keccak256, parseSignature, parseTransaction } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSigner } from '../../../runtime/money/chain/open-signer.ts'
import { readSettings, SettingsError } from '../../../runtime/platform/settings.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { COMPILED, compileContract } from './compile.ts'
import { type SignerServer, startSigner } from './external-signer.ts'
import { enqueueOne, KEY, makeWorker, type Network, PAYER, someAddress, startNetwork } from './network.ts'

/** The largest s that EIP-2 allows. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

const TOKEN = 'let-me-sign'
let database: TestDatabase
let network: Network
let server: SignerServer
beforeAll(async () => {
  ;[database, network] = await Promise.all([openTestDatabase(), startNetwork()])
  server = await startSigner(KEY as `0x${string}`, TOKEN)
})
afterAll(async () => {
  server.close()
  await network.stop()
  await database.close()
})

test('the bytecode of the test chain’s contract is what its source compiles to', { timeout: 60_000 }, () => {
  // After an edit of the source: node test/money/chain/compile.ts
  expect(readFileSync(COMPILED, 'utf8')).toBe(compileContract())
})

describe('a signer elsewhere', () => {
  const external = (token = TOKEN) => openSigner({ kind: 'external', url: server.url, token })
  const others = `0x${'11'.repeat(32)}` as const

  test('a signer elsewhere signs payments', async () => {
    const to = someAddress(1)
    const worker = makeWorker(database, network, { openSigner: external() })
    const id = await enqueueOne(database, to, 100)
    await worker.pay([id])
    await worker.close()
    expect(await network.balanceOf(to)).toBe(1_000_000n)
    expect(server.asked).toEqual([
      { path: '/authorizations', payout_id: id },
      { path: '/transactions', payout_id: id },
    ])
  })

  test('a signer elsewhere that refuses has the payout rejected', async () => {
    const worker = makeWorker(database, network, { openSigner: external(), limits: { giveUpMs: 0 } })
    const nonce = await network.rpc.ask('eth_getTransactionCount', PAYER, 'latest')
    const id = await enqueueOne(database, someAddress(2), 100)
    server.behave({ status: 422 })
    await worker.pay([id], 'failed')
    server.behave({})
    await worker.close()
    expect(worker.heard.at(-1)).toEqual({ id, change: { state: 'failed', code: 'rejected' } })
    expect(await network.rpc.ask('eth_getTransactionCount', PAYER, 'latest')).toBe(nonce)
  })

  test.each([
    ['is away', { status: 503 }],
    ['signs with another key', { key: others }],
    ['signs another transaction', { nonce: 77 }],
  ] as const)(
    'a signer elsewhere that %s signs nothing that is sent, and the payout waits for it',
    async (what, how) => {
      const to = someAddress(300 + what.length)
      const worker = makeWorker(database, network, { openSigner: external(), limits: { giveUpMs: 0 } })
      const nonce = await network.rpc.ask('eth_getTransactionCount', PAYER, 'latest')
      const id = await enqueueOne(database, to, 100)
      server.behave(how)
      for (let looks = 0; looks < 3; looks += 1) await worker.look()
      expect(worker.heard).toEqual([])
      expect(await network.rpc.ask('eth_getTransactionCount', PAYER, 'latest')).toBe(nonce)
      const text = 'SELECT state, problem FROM sandbox.chain_transfers WHERE id = $1'
      const { rows } = await database.control.query({ text }, [id])
      expect(rows).toEqual([
        { state: 'queued', problem: expect.stringMatching(/^network_error: the signer/) },
      ])
      server.behave({})
      await worker.pay([id])
      await worker.close()
      expect(await network.balanceOf(to)).toBe(1_000_000n)
    },
  )

  test('a signer elsewhere that signs with a high s (EIP-2) pays all the same: the other s is used', async () => {
    const to = someAddress(400)
    const worker = makeWorker(database, network, { openSigner: external() })
    const id = await enqueueOne(database, to, 100)
    server.behave({ highS: true })
    await worker.pay([id])
    server.behave({})
    await worker.close()
    expect(await network.balanceOf(to)).toBe(1_000_000n)
    const text = `SELECT p.signature, t.raw, t.hash FROM control.chain_payments p JOIN control.chain_transactions t USING (chain_id, signer, nonce)
      WHERE p.transfer_id = $1`
    const { rows } = await database.control.query<{ signature: `0x${string}`; raw: Buffer; hash: string }>(
      { text },
      [id],
    )
    const raw = `0x${rows[0]!.raw.toString('hex')}` as const
    const all = [BigInt(parseSignature(rows[0]!.signature).s), BigInt(parseTransaction(raw).s!)]
    expect(all.every((s) => s <= HALF_ORDER)).toBe(true)
    expect(rows[0]!.hash).toBe(keccak256(raw))
  })

  test('a signer elsewhere that does not know us is told of, without the token', async () => {
    const failing = external('wrong-token')()
    await expect(failing).rejects.toThrow(/^the signer returned 401 for \/address, without a valid address$/)
  })

  test('a signer elsewhere at an address of metadata services is not asked', async () => {
    const failing = openSigner({ kind: 'external', url: 'http://169.254.169.254' })()
    await expect(failing).rejects.toThrow(/169.254.169.254 is a link-local address/)
  })
})

describe('settings', () => {
  const NODE = { SVC_CHAIN_RPC_URL: 'https://rpc.example.com/v3/secret', SVC_USDC_ADDRESS: someAddress(1) }
  const problemsOf = (env: Readonly<Record<string, string>>) => {
    try {
      readSettings(env)
      return []
    } catch (error) {
      if (error instanceof SettingsError)
        return error.problems.map(({ variable, problem }) => `${variable}: ${problem}`)
      throw error
    }
  }

  test.each([
    [{ SVC_CHAIN_RPC_URL: NODE.SVC_CHAIN_RPC_URL, SVC_PAYOUT_KEY: KEY }, ['SVC_USDC_ADDRESS']],
    [{ SVC_USDC_ADDRESS: NODE.SVC_USDC_ADDRESS }, ['SVC_CHAIN_RPC_URL']],
    [NODE, ['SVC_PAYOUT_KEY']],
    [{ ...NODE, SVC_USDC_ADDRESS: '0x12', SVC_PAYOUT_KEY: KEY }, ['SVC_USDC_ADDRESS']],
    [{ ...NODE, SVC_PAYOUT_KEY: KEY.slice(0, 60) }, ['SVC_PAYOUT_KEY']],
    [{ ...NODE, SVC_PAYOUT_KEY: KEY, SVC_PAYOUT_KEY_FILE: '/k' }, ['SVC_PAYOUT_KEY_FILE']],
    [
      { ...NODE, SVC_PAYOUT_KEY: KEY, SVC_PAYOUT_SIGNER_URL: 'https://s' },
      ['SVC_PAYOUT_KEY, SVC_PAYOUT_SIGNER_URL'],
    ],
    [{ ...NODE, SVC_PAYOUT_SIGNER_URL: 'ftp://x' }, ['SVC_PAYOUT_SIGNER_URL']],
    [{ SVC_PAYOUT_SIGNER_TOKEN: 't' }, ['SVC_PAYOUT_SIGNER_TOKEN']],
    [{ SVC_CHAIN_CONFIRMATIONS: '0' }, ['SVC_CHAIN_CONFIRMATIONS']],
    [{ ...NODE, SVC_PAYOUT_KEY: KEY }, []],
  ])('settings of payouts name the variables that are wrong: %j', (env, variables) => {
    const problems = problemsOf(env)
    expect(problems.map((problem) => problem.split(':')[0])).toEqual(variables)
    expect(problems.join()).not.toContain(KEY.slice(2, 50))
  })

  test('lead off the machine over TLS in production', () => {
    const production = {
      NODE_ENV: 'production',
      SVC_PAYOUT_KEY: KEY,
      SVC_USDC_ADDRESS: NODE.SVC_USDC_ADDRESS,
    }
    expect(problemsOf({ ...production, SVC_CHAIN_RPC_URL: 'http://10.0.0.1:8545' })).toHaveLength(1)
    expect(problemsOf({ ...production, SVC_CHAIN_RPC_URL: 'http://127.0.0.1:8545' })).toEqual([])
  })
})
