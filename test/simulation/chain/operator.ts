/** What an operator tries: nodes and settings of the chain that do not fit. Each must be refused with its reason. */
import type { Logger } from 'pino'
import type { Address } from 'viem'
import type { Pool } from '../../../runtime/database/pool/pool.ts'
import { connect } from '../../../runtime/money/chain/connect.ts'
import { openChains } from '../../../runtime/money/chain/open-chains.ts'
import { openSigner } from '../../../runtime/money/chain/open-signer.ts'
import { createRpc } from '../../../runtime/money/chain/rpc.ts'
import { checked, createKeySigner, type Signer } from '../../../runtime/money/chain/signer.ts'
import type { ChainSettings } from '../../../runtime/platform/chain-settings.ts'
import { fail, mustEqual } from '../checks/must.ts'
import { CHAIN_ID, PAYER, PAYER_KEY, USDC } from './node.ts'
import { ODD_NODES } from './odd-nodes.ts'

const urlOf = (name: string) => `https://${name}${ODD_NODES}`

type Result = readonly [name: string, message: string]

const outcomeOf = async (work: () => Promise<unknown>): Promise<Result> => {
  try {
    return ['', unordered(String(await work()))]
  } catch (error) {
    return error instanceof Error
      ? [error.name, unordered(error.message)]
      : fail('what was thrown is not an error')
  }
}

/** Two methods are called at once, and either can fail first. */
const unordered = (text: string) => text.replaceAll(/(?<=503 for )eth_\w+/g, 'eth_…')

/** Fails unless the work ends with an error of this name and with these words, or with this value if the name is empty. */
async function mustEnd(work: () => Promise<unknown>, [name, words]: Result, what: string): Promise<void> {
  const [found, message] = await outcomeOf(work)
  if (found !== name || !message.includes(words)) mustEqual([found, message], [name, words], what)
}

const NOT_JSON = 'returned 200 for eth_chainId, without a valid JSON-RPC response'

const CLIENT: readonly (readonly [node: string, name: string, words: string])[] = [
  ['busy', '', '0x14a34'],
  ['overrun', 'RpcUnavailable', 'rejected the request: too many requests (429)'],
  ['dead', 'RpcUnavailable', 'returned 503 for eth_…, without a valid JSON-RPC response'],
  ['mixed', 'RpcUnavailable', NOT_JSON],
  ['plain', 'RpcUnavailable', NOT_JSON],
  ['empty', 'RpcUnavailable', NOT_JSON],
  ['quoted', 'RpcUnavailable', NOT_JSON],
  ['anonymous', 'RpcUnavailable', NOT_JSON],
  ['silent', 'RpcUnavailable', 'returned no result for eth_chainId'],
  ['careful', '', '0x14a34'],
  ['full', '', '0x14a34'],
  ['larger', 'RpcUnavailable', 'larger.node.invalid cannot be reached'],
  ['limited', 'RpcUnavailable', 'had an internal error in eth_chainId'],
  ['broken', 'RpcUnavailable', 'had an internal error in eth_chainId'],
  ['throttled', 'RpcUnavailable', 'had an internal error in eth_chainId'],
  ['reverting', 'RpcRefused', 'execution reverted'],
  ['refusing', 'RpcRefused', 'header not found'],
]

const CONTRACT: readonly (readonly [node: string, name: string, words: string])[] = [
  ['usual', '', '2'],
  ['versionless', '', '1'],
  ['unversioned', '', '1'],
  ['contractless', 'WrongChain', 'is not a token contract'],
  ['eight', 'WrongChain', 'has 8 decimals; expected 6'],
  ['eurc', 'WrongChain', 'has a symbol that does not begin with USDC'],
  ['nameless', 'WrongChain', 'has a symbol that does not begin with USDC'],
  ['separatorless', 'WrongChain', 'does not support transfers with authorization (EIP-3009)'],
  ['strange', 'WrongChain', 'verifies signatures for a different EIP-712 domain than USDC, version 2'],
  ['chain-1', 'WrongChain', `chain-1.node.invalid is chain 1; expected chain ${CHAIN_ID}`],
  ['wordy', 'RpcUnavailable', 'returned no valid number for the chain ID'],
]

/** Testnets of the list in dangers.ts, copied from Circle's documentation. */
const TESTNETS = [31337, 1337, 11155111, 84532, 421614, 11155420, 80002, 43113, 1301, 59141, 300]

/** A key of every development node, and its address. */
const KNOWN_KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const KNOWN = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

const TEST_DANGER =
  'SVC_CHAIN_RPC_URL: live payouts use eip155:84532, a test chain on which tokens have no value'
const KEY_DANGER = `SVC_PAYOUT_KEY: live payouts are sent from ${KNOWN}, whose private key is publicly known`
const ALLOW = '. To allow it, set SVC_ALLOW_TEST_CHAIN=1'

interface Trial {
  readonly node: string
  readonly change?: Partial<ChainSettings>
  readonly without?: keyof ChainSettings
  /** Names of the chains of the sandbox and of live, the warnings, and lines at the level `warn` and above. */
  readonly wanted:
    | Result
    | readonly [sandbox: string, live: string, warnings: readonly string[], logs: readonly string[]]
}

const own = 'eip155:31337'
const base = `eip155:${CHAIN_ID}`
const known = { kind: 'key', key: KNOWN_KEY } as const
const DEAD = 'dead.node.invalid returned 503 for eth_…, without a valid JSON-RPC response'

const TRIALS: readonly Trial[] = [
  { node: 'usual', wanted: [base, base, [], [TEST_DANGER]] },
  { node: 'usual', change: { production: true }, wanted: ['Error', `${TEST_DANGER}${ALLOW}`] },
  {
    node: 'usual',
    change: { production: true, allowTestChain: true },
    wanted: [base, base, [TEST_DANGER], [TEST_DANGER]],
  },
  { node: 'usual', change: { signer: known }, wanted: [base, base, [], [TEST_DANGER, KEY_DANGER]] },
  {
    node: 'usual',
    change: { chainId: 5 },
    wanted: ['Error', 'usual.node.invalid is chain 84532, but SVC_CHAIN_ID is 5'],
  },
  { node: 'usual', change: { usdc: USDC.toLowerCase() }, wanted: [base, base, [], [TEST_DANGER]] },
  {
    node: 'usual',
    change: { usdc: `0x${USDC.slice(2).toUpperCase()}` },
    wanted: [base, base, [], [TEST_DANGER]],
  },
  {
    node: 'usual',
    change: { usdc: USDC.replace('CbD', 'cbD') },
    wanted: ['Error', 'SVC_USDC_ADDRESS: the EIP-55 checksum is wrong'],
  },
  { node: 'reborn', wanted: ['Error', 'chain 84532 is not the chain that this database has paid on'] },
  { node: 'wordy', wanted: ['WrongChain', 'wordy.node.invalid is not an EVM node'] },
  { node: 'blockless', wanted: ['WrongChain', 'blockless.node.invalid is not an EVM node'] },
  { node: 'chain-8453', without: 'chainId', wanted: [own, 'eip155:8453', [], []] },
  {
    node: 'chain-8453',
    without: 'chainId',
    change: { production: true },
    wanted: [own, 'eip155:8453', [], []],
  },
  {
    ...{ node: 'chain-8453', without: 'chainId', change: { allowTestChain: true } },
    wanted: [
      own,
      'eip155:8453',
      ['SVC_ALLOW_TEST_CHAIN: live payouts may use a test chain or a publicly known key'],
      [],
    ],
  },
  {
    node: 'chain-8453',
    without: 'chainId',
    change: { signer: known },
    wanted: ['Error', `${KEY_DANGER}${ALLOW}`],
  },
  {
    ...{ node: 'chain-8453', without: 'chainId', change: { signer: known, allowTestChain: true } },
    wanted: [own, 'eip155:8453', [KEY_DANGER], [KEY_DANGER]],
  },
  { node: 'chain-8453', without: 'signer', change: { chainId: 8453 }, wanted: [own, 'eip155:8453', [], []] },
  { node: 'dead', wanted: [base, base, [], [`USDC payouts wait: ${DEAD}`, TEST_DANGER]] },
  {
    ...{ node: 'dead', without: 'chainId', change: { usdc: `0x${'12'.repeat(20)}` } },
    wanted: ['Error', `SVC_CHAIN_RPC_URL: ${DEAD}. To start without the node, set SVC_CHAIN_ID`],
  },
  ...TESTNETS.filter((id) => id !== CHAIN_ID).map((id): Trial => {
    const sentence = TEST_DANGER.replace('84532', `${id}`)
    return {
      node: `chain-${id}`,
      without: 'chainId',
      wanted: [`eip155:${id}`, `eip155:${id}`, [], [sentence]],
    }
  }),
]

async function settingsAreChecked(settings: ChainSettings, control: Pool): Promise<void> {
  for (const { node, change, without, wanted } of TRIALS) {
    const logs: string[] = []
    const keep = (line: unknown) => void logs.push(String(line))
    const log = { info: () => {}, warn: keep, error: keep } as unknown as Logger
    const { [without ?? 'rpcUrl']: _, ...others } = { ...settings, ...change }
    const tried = { ...others, rpcUrl: urlOf(node) } as ChainSettings
    const open = async () => {
      const { of, warnings } = await openChains(tried, control, log)
      return JSON.stringify([of.sandbox?.name, of.live?.name, warnings, logs])
    }
    const result: Result = wanted.length === 2 ? wanted : ['', JSON.stringify(wanted)]
    await mustEnd(open, result, `chains of ${node} with ${JSON.stringify(Object.keys(change ?? {}))}`)
  }
}

/** Returns a signer that signs with the key, except for what is replaced. */
const signerWith = (change: Partial<Signer>): Signer => ({ ...createKeySigner(PAYER_KEY), ...change })

async function signersAreChecked(): Promise<void> {
  const domain = { name: 'USDC', version: '2', chainId: CHAIN_ID, verifyingContract: USDC }
  const authorization = {
    from: PAYER,
    to: USDC,
    value: 5n,
    validBefore: 9n,
    nonce: `0x${'01'.repeat(32)}`,
  } as const
  const fees = { gas: 1n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
  const transaction = { chainId: CHAIN_ID, nonce: 3, to: USDC, data: '0x12' as const, ...fees }
  const honest = createKeySigner(PAYER_KEY)
  const other = createKeySigner(KNOWN_KEY)
  const right = await honest.authorize(domain, authorization, '')
  const raw = await honest.sign(transaction, '')
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const high =
    `0x${right.slice(2, 66)}${(order - BigInt(`0x${right.slice(66, 130)}`)).toString(16).padStart(64, '0')}${right.endsWith('1b') ? '1c' : '1b'}` as const
  const trials: readonly (readonly [Partial<Signer>, Result, Result])[] = [
    [{}, ['', right], ['', raw]],
    [{ authorize: async () => high }, ['', right], ['', raw]],
    [
      { authorize: other.authorize, sign: other.sign },
      ['SignerUnavailable', 'the signer did not sign the requested authorization'],
      ['SignerUnavailable', 'the signer did not sign the requested transaction'],
    ],
    [
      {
        authorize: async () => '0x12',
        sign: async (given) => honest.sign({ ...given, nonce: 4 }, ''),
      },
      ['SignerUnavailable', 'the signer did not sign the requested authorization'],
      ['SignerUnavailable', 'the signer did not sign the requested transaction'],
    ],
    [
      { sign: async () => '0x12' },
      ['', right],
      ['SignerUnavailable', 'the signer did not sign the requested transaction'],
    ],
  ]
  for (const [change, authorized, signed] of trials) {
    const signer = checked(signerWith(change))
    const what = `what a signer with another ${Object.keys(change)} signs`
    await mustEnd(() => signer.authorize(domain, authorization, ''), authorized, what)
    await mustEnd(() => signer.sign(transaction, ''), signed, what)
  }
  const address = async (key: string | undefined) =>
    (await openSigner(key ? { kind: 'key', key } : undefined)()).address
  mustEqual(
    [await address(PAYER_KEY), (await address(undefined)) === PAYER],
    [PAYER, false],
    'the addresses of signers',
  )
}

/** Tries nodes, settings and signers that do not fit. */
export async function chainSettingsAreChecked(settings: ChainSettings, control: Pool): Promise<void> {
  const began = Date.now()
  await createRpc(urlOf('hasty')).ask('eth_chainId')
  if (Date.now() < began + 1000) fail('a busy node was asked again after less than a second')
  for (const [node, ...wanted] of CLIENT)
    await mustEnd(() => createRpc(urlOf(node)).ask('eth_chainId'), wanted, `an answer of the node ${node}`)
  const open = (node: string) => connect(createRpc(urlOf(node)), CHAIN_ID, USDC as Address)
  for (const [node, ...wanted] of CONTRACT)
    await mustEnd(async () => (await open(node)).domain.version, wanted, `the contract on the node ${node}`)
  for (const [node, words] of [
    ['switched', 'is chain 1; expected chain 84532'],
    ['upgraded', 'has changed its EIP-712 domain'],
  ] as const) {
    const chain = await open(node)
    await chain.check()
    await mustEnd(() => chain.check(), ['WrongChain', words], `a check of the node ${node}`)
  }
  for (const [node, words] of [
    ['numberless', 'returned no valid number for a block number'],
    ['timeless', 'returned no valid number for a block timestamp'],
  ] as const) {
    const chain = await open(node)
    await mustEnd(() => chain.block('latest'), ['RpcUnavailable', words], `a block of the node ${node}`)
  }
  const chain = await open('usual')
  mustEqual(await chain.block(10 ** 9), undefined, 'a block of the future')
  await settingsAreChecked(settings, control)
  await signersAreChecked()
}
