/** Nodes that answer like the node of the chain, except for what their name says. An operator tries them. */
import {
  type Address,
  domainSeparator,
  encodeAbiParameters,
  type Hex,
  keccak256,
  numberToHex,
  stringToHex,
} from 'viem'
import type { Peer, PeerAnswer } from '../network.ts'
import { CHAIN_ID, USDC } from './node.ts'

/** Host names of odd nodes end with this. */
export const ODD_NODES = '.node.invalid'

interface Question {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** Returns what replaces a result; undefined to leave it. */
type Habit = (question: Question, count: number) => unknown

const SELECTORS = {
  ...{ decimals: '0x313ce567', symbol: '0x95d89b41', version: '0x54fd4d50', separator: '0x3644e515' },
} as const

const calls = ({ method, params }: Question, name: keyof typeof SELECTORS): boolean =>
  method === 'eth_call' && (params[0] as { readonly data: string }).data === SELECTORS[name]

const text = (value: string): Hex => encodeAbiParameters([{ type: 'string' }], [value])

const onCall =
  (name: keyof typeof SELECTORS, result: Hex): Habit =>
  (question) =>
    calls(question, name) ? result : undefined

const separatorOf = (chainId: number, version = '2') =>
  domainSeparator({ domain: { name: 'USDC', version, chainId, verifyingContract: USDC as Address } })

const HABITS: Readonly<Record<string, Habit>> = {
  usual: () => undefined,
  contractless: onCall('decimals', '0x'),
  eight: onCall('decimals', numberToHex(8, { size: 32 })),
  eurc: onCall('symbol', text('EURC')),
  nameless: onCall('symbol', '0x'),
  separatorless: onCall('separator', '0x'),
  strange: onCall('separator', keccak256(stringToHex('strange'))),
  versionless: (question) =>
    calls(question, 'version') ? '0x' : calls(question, 'separator') ? separatorOf(CHAIN_ID, '1') : undefined,
  unversioned: (question) => (calls(question, 'separator') ? separatorOf(CHAIN_ID, '1') : undefined),
  wordy: ({ method }) => (method === 'eth_chainId' ? 'one' : undefined),
  blockless: ({ method }) => (method === 'eth_getBlockByNumber' ? {} : undefined),
  reborn: ({ method }) =>
    method === 'eth_getBlockByNumber' ? { hash: keccak256(stringToHex('other')) } : undefined,
  switched: ({ method }, count) => (method === 'eth_chainId' && count > 8 ? '0x1' : undefined),
  upgraded: (question, count) => (calls(question, 'separator') && count > 8 ? separatorOf(1) : undefined),
  numberless: ({ method }) =>
    method === 'eth_getBlockByNumber' ? { number: '0x', hash: '0x', timestamp: '0x1' } : undefined,
  timeless: ({ method }) =>
    method === 'eth_getBlockByNumber'
      ? { number: '0x1', hash: '0x', timestamp: `0x${'f'.repeat(20)}` }
      : undefined,
}

const MOST_BYTES = 4 * 1024 * 1024

/** Whole answers, by name of the node. */
const ANSWERS: Readonly<Record<string, (question: Question, count: number) => PeerAnswer | undefined>> = {
  dead: () => ({ status: 503, body: '' }),
  busy: (_, count) => (count === 1 ? { status: 429, body: '' } : undefined),
  hasty: (_, count) => (count === 1 ? { status: 429, body: '' } : undefined),
  overrun: () => ({ status: 429, body: '' }),
  mixed: ({ id }) => ({ status: 200, body: JSON.stringify({ id: id + 1, result: '0x1' }) }),
  plain: () => ({ status: 200, body: 'hello' }),
  empty: () => ({ status: 200, body: 'null' }),
  quoted: () => ({ status: 200, body: '"id"' }),
  anonymous: () => ({ status: 200, body: JSON.stringify({ result: '0x1' }) }),
  silent: ({ id }) => ({ status: 200, body: JSON.stringify({ id }) }),
  careful: ({ id }) => ({ status: 200, body: JSON.stringify({ id, result: '0x14a34', error: null }) }),
  full: ({ id }) => ({ status: 200, body: JSON.stringify({ id, result: '0x14a34' }).padEnd(MOST_BYTES) }),
  larger: ({ id }) => ({
    status: 200,
    body: JSON.stringify({ id, result: '0x14a34' }).padEnd(MOST_BYTES + 1),
  }),
}

const failing =
  (code: number, message: string) =>
  ({ id }: Question) => ({
    status: 200,
    body: JSON.stringify({ id, error: { code, message } }),
  })

/** Codes of JSON-RPC errors, by name of the node. */
const ERRORS: Readonly<Record<string, ReturnType<typeof failing>>> = {
  limited: failing(-32005, 'limit exceeded'),
  broken: failing(-32603, 'internal'),
  throttled: failing(429, 'slow down'),
  reverting: failing(-32603, 'execution reverted'),
  refusing: failing(-32000, 'header not found'),
}

/** Creates the peer of a host such as `eight.node.invalid`, or `chain-1.node.invalid` for a chain with that number. */
export function createOddNodes(node: Peer): (host: string) => Peer {
  const counts = new Map<string, number>()
  return (host) => async (request) => {
    const name = host.slice(0, -ODD_NODES.length)
    const question = JSON.parse(request.body) as Question
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    const isRefused = name === 'unversioned' && calls(question, 'version')
    const answer =
      ANSWERS[name]?.(question, count) ??
      ERRORS[name]?.(question) ??
      (isRefused ? failing(3, 'execution reverted')(question) : undefined)
    if (answer) return answer
    const chainId = Number(/^chain-(\d+)$/.exec(name)?.[1] ?? CHAIN_ID)
    const onChain: Habit = ({ method }) =>
      method === 'eth_chainId'
        ? numberToHex(chainId)
        : calls(question, 'separator')
          ? separatorOf(chainId)
          : undefined
    const result =
      chainId === CHAIN_ID ? (HABITS[name] ?? HABITS.usual!)(question, count) : onChain(question, count)
    return result === undefined
      ? node(request)
      : { status: 200, body: JSON.stringify({ jsonrpc: '2.0', id: question.id, result }) }
  }
}
