/** A node of the chain: its JSON-RPC interface (Ethereum execution-apis), over one that may lag. */
import {
  type Address,
  decodeFunctionData,
  domainSeparator,
  encodeAbiParameters,
  getAddress,
  type Hex,
  hexToNumber,
  keccak256,
  numberToHex,
  padHex,
  parseAbi,
  parseTransaction,
  recoverTransactionAddress,
  recoverTypedDataAddress,
  serializeSignature,
  stringToHex,
  toEventSelector,
} from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { Random } from '../../../runtime/platform/random.ts'
import type { Timers } from '../clockwork/timers.ts'
import type { Peer } from '../network.ts'
import type { Weather } from '../weather.ts'
import type { Authorization, Blocks, MinedTransaction, SentTransaction } from './blocks.ts'
import { DOUBTED_MS, fateOf, isContradicted } from './fates.ts'
import { hasTips, REFUSALS, shortageAt, type WAITS } from './shortages.ts'

/** Base Sepolia. A test chain serves both environments. */
export const CHAIN_ID = 84532

/** The address of the contract. */
export const USDC: Address = getAddress('0x036cbd53842c5426634e7929541ec2318f3dcf7e')

export const NODE_URL = 'https://node.invalid'

/** The private key of the payer. */
export const PAYER_KEY = keccak256(stringToHex('the payer of the simulation'))

/** The address of the payer. */
export const PAYER = privateKeyToAddress(PAYER_KEY)

/** The address that a merchant is paid at, and its CAIP-10 form. */
export const addressOf = (name: string) => getAddress(`0x${keccak256(stringToHex(name)).slice(-40)}`)
export const accountOf = (name: string): string => `eip155:${CHAIN_ID}:${addressOf(name)}`

const ABI = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function balanceOf(address) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function decimals() view returns (uint8)',
  'function symbol() view returns (string)',
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function paused() view returns (bool)',
  'function isBlacklisted(address) view returns (bool)',
])

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

const DOMAIN = { name: 'USDC', version: '2', chainId: CHAIN_ID, verifyingContract: USDC } as const

const TRANSFER = toEventSelector('event Transfer(address indexed from, address indexed to, uint256 value)')
const USED = toEventSelector('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)')

/** A node that lags is at most this many blocks behind. */
const MOST_BEHIND = 12

const RICH = 10n ** 30n

const uint = (value: bigint | boolean): Hex => numberToHex(BigInt(value), { size: 32 })
const text = (value: string): Hex => encodeAbiParameters([{ type: 'string' }], [value])
const topicOf = (address: string): Hex => padHex(address.toLowerCase() as Hex, { size: 32 })

/** Parameters of a call: strings for most methods. */
type Params = readonly [Hex, Hex]

interface Filter {
  readonly topics: readonly Hex[]
  readonly fromBlock: Hex
}

/** Codes of errors of JSON-RPC: of any kind, and of a call that the contract reverts. */
const FAILED = -32000
const REVERTED = 3

/** An error of JSON-RPC. */
class Refusal extends Error {
  readonly code: number

  constructor(message: string, code = FAILED) {
    super(message)
    this.code = code
  }
}

/** Decodes a signed transaction, as a node does before it accepts it. */
async function readTransaction(raw: Hex): Promise<SentTransaction> {
  const { nonce = 0, maxFeePerGas = 0n, maxPriorityFeePerGas = 0n, data, to } = parseTransaction(raw)
  const from = await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })
  const isToken = to?.toLowerCase() === USDC.toLowerCase() && data !== undefined
  return {
    ...{ hash: keccak256(raw), from, nonce, maxFee: maxFeePerGas, priorityFee: maxPriorityFeePerGas },
    authorization: isToken ? await readAuthorization(data) : undefined,
  }
}

async function readAuthorization(data: Hex): Promise<Authorization | undefined> {
  const call = decodeFunctionData({ abi: ABI, data })
  if (call.functionName !== 'transferWithAuthorization') return undefined
  const [from, to, value, validAfter, validBefore, nonce, v, r, s] = call.args
  const message = { from, to, value, validAfter, validBefore, nonce }
  const signature = serializeSignature({ r, s, yParity: v - 27 })
  const typed = { domain: DOMAIN, types: TYPES, primaryType: 'TransferWithAuthorization', message } as const
  const signer = await recoverTypedDataAddress({ ...typed, signature })
  return { from, to, value, validBefore, nonce, isSigned: signer === from && validAfter === 0n }
}

function logsOf({ authorization, isPaid, hash, block }: MinedTransaction) {
  if (!isPaid || !authorization) return []
  const { from, to, nonce, value } = authorization
  const place = { address: USDC.toLowerCase(), transactionHash: hash, blockNumber: numberToHex(block) }
  return [
    { ...place, topics: [USED, topicOf(from), nonce], data: '0x' as Hex },
    { ...place, topics: [TRANSFER, topicOf(from), topicOf(to)], data: uint(value) },
  ]
}

/** Creates a node. A call sees the chain at `head`, which is behind the last block if the node lags. */
export function createNode(
  blocks: Blocks,
  random: Random,
  weather: Weather,
  timers: Pick<Timers, 'now'>,
): Peer {
  /** Notes that the payer lacks something now, if it is asked for at such a time. */
  const isShort = (what: keyof typeof WAITS) => {
    if (shortageAt(timers.now) !== what) return false
    blocks.shortages.push(what)
    return true
  }
  const shown = (block: number) => ({
    number: numberToHex(block),
    hash: block === 0 ? keccak256(stringToHex('genesis')) : blocks.hashOf(block),
    timestamp: numberToHex(blocks.timestampOf(block)),
    baseFeePerGas: numberToHex(blocks.baseFeeOf(block)),
  })
  const until = (head: number) => blocks.mined.filter(({ block }) => block <= head)
  /** Whether the contract has accepted an authorization, and says so. */
  const isUsed = (nonce: Hex, head: number) =>
    until(head).some(
      (each) =>
        each.isPaid &&
        each.authorization?.nonce === nonce &&
        (each.from !== PAYER ||
          (!isContradicted(each.nonce) &&
            (fateOf(each.nonce) !== 'doubted' ||
              timers.now > blocks.timestampOf(each.block) * 1000 + DOUBTED_MS))),
    )

  const call = (data: Hex, head: number): Hex => {
    const { functionName, args } = decodeFunctionData({ abi: ABI, data })
    switch (functionName) {
      case 'decimals':
        return uint(6n)
      case 'symbol':
      case 'name':
        return text('USDC')
      case 'version':
        return text('2')
      case 'DOMAIN_SEPARATOR':
        return domainSeparator({ domain: DOMAIN })
      case 'balanceOf':
        return uint(isShort('tokens') ? 1n : RICH)
      case 'authorizationState':
        return uint(isUsed(args[1], head))
      case 'paused':
        return uint(isShort('paused'))
      case 'isBlacklisted':
        return uint(false)
      default:
        return uint(true)
    }
  }
  const isDenied = ({ from, nonce }: MinedTransaction) => from === PAYER && fateOf(nonce) === 'denied'
  const receiptOf = (hash: unknown, head: number) => {
    const found = until(head).find((each) => each.hash === hash)
    if (!found) return null
    blocks.show(found.hash)
    return {
      transactionHash: found.hash,
      blockHash: blocks.hashOf(found.block),
      blockNumber: numberToHex(found.block),
      status: found.isPaid && !isDenied(found) ? '0x1' : '0x0',
      from: found.from.toLowerCase(),
      logs: logsOf(found),
    }
  }
  const logsWith = (topics: readonly Hex[], from: number, head: number) =>
    until(head)
      .filter(({ block }) => block >= from)
      .flatMap(logsOf)
      .filter((log) =>
        topics.every((topic, index) => log.topics[index]?.toLowerCase() === topic.toLowerCase()),
      )

  const perform = async (method: string, [first, second]: Params, head: number): Promise<unknown> => {
    const numberOf = (tag: string) => (tag === 'latest' ? head : hexToNumber(tag as Hex))
    switch (method) {
      case 'eth_chainId':
        // A machine that starts now would refuse to. Without faults, none starts.
        return numberToHex(weather.count === 0 && isShort('switched') ? 1 : CHAIN_ID)
      case 'eth_getBlockByNumber':
        return numberOf(first) > head ? null : shown(numberOf(first))
      case 'eth_getTransactionCount': {
        if (numberOf(second) > head) throw new Refusal('header not found')
        const counted = until(numberOf(second)).filter(({ from }) => from === first)
        return numberToHex(counted.length)
      }
      case 'eth_getBalance':
        return numberToHex(isShort('gas') ? 1n : RICH)
      case 'eth_call':
        return call((first as unknown as { readonly data: Hex }).data, head)
      case 'eth_estimateGas':
        if (shortageAt(timers.now) === 'paused') throw new Refusal('the call failed', REVERTED)
        for (const what of ['funds', 'confused'] as const)
          if (isShort(what)) throw new Refusal(REFUSALS[what])
        return numberToHex(60_000)
      case 'eth_maxPriorityFeePerGas':
        if (!hasTips(timers.now)) throw new Refusal('the method does not exist')
        return numberToHex(1_500_000_000)
      case 'eth_getTransactionReceipt':
        return receiptOf(first, head)
      case 'eth_getLogs': {
        const { topics, fromBlock } = first as unknown as Filter
        return logsWith(topics, hexToNumber(fromBlock), head)
      }
      case 'eth_sendRawTransaction': {
        const transaction = await readTransaction(first)
        const refusal = blocks.accept(transaction)
        if (refusal !== undefined) throw new Refusal(refusal)
        return transaction.hash
      }
      default:
        throw new Error(`the simulated node does not have ${method}`)
    }
  }
  return async ({ body }) => {
    const { id, method, params } = JSON.parse(body) as {
      readonly id: number
      readonly method: string
      readonly params: Params
    }
    const newest = blocks.advance()
    const head = weather.strikes('lag') ? newest - random.between(1, MOST_BEHIND) : newest
    try {
      const result = await perform(method, params, head)
      return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id, result }) }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const refused = { code: error.code, message: error.message }
      return { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id, error: refused }) }
    }
  }
}

/** Loads the code that viem loads at its first use, because a file is read at a moment that no seed decides. */
export async function preload(): Promise<void> {
  await Promise.all([
    import('../../../runtime/money/chain/worker.ts'),
    import('../../../runtime/money/chain/open-signer.ts'),
    import('viem/utils'),
  ])
  const { createKeySigner } = await import('../../../runtime/money/chain/signer.ts')
  const signer = createKeySigner(PAYER_KEY)
  const fees = { gas: 1n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
  const raw = await signer.sign({ chainId: CHAIN_ID, nonce: 0, to: USDC, data: '0x', ...fees }, '')
  await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })
}
