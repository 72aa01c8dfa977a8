/** The USDC contract: its calls, the authorizations signed for it (EIP-3009, EIP-712), and its logs. */
import {
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  type Hex,
  hexToNumber,
  keccak256,
  padHex,
  parseAbi,
  parseSignature,
  stringToHex,
  toEventSelector,
} from 'viem'

const ABI = parseAbi([
  'function transfer(address to, uint256 value) returns (bool)',
  'function balanceOf(address) view returns (uint256)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function mint(address to, uint256 value)',
  'function paused() view returns (bool)',
  'function isBlacklisted(address) view returns (bool)',
])

/** The EIP-712 types of an EIP-3009 authorization. */
export const AUTHORIZATION_TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

/** The EIP-712 domain of a token contract. */
export interface TokenDomain {
  readonly name: string
  readonly version: string
  readonly chainId: number
  readonly verifyingContract: Address
}

/** A transfer authorization: one payment of an amount to one recipient. */
export interface TransferAuthorization {
  readonly from: Address
  readonly to: Address
  /** Base units. */
  readonly value: bigint
  /** Seconds since the epoch. */
  readonly validBefore: bigint
  readonly nonce: Hex
}

/** Base units per cent: USDC has six decimals. */
export const UNITS_PER_CENT = 10_000n

/** Returns the EIP-3009 nonce of a payout. All authorizations for one payout share it, so the contract accepts only one. */
export const nonceOf = (transferId: string): Hex => keccak256(stringToHex(transferId))

/** Returns the DOMAIN_SEPARATOR (EIP-712) of a contract with this domain. */
export function separatorOf({ name, version, chainId, verifyingContract }: TokenDomain): Hex {
  const hash = (text: string) => keccak256(stringToHex(text))
  const type = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'
  const kinds = ['bytes32', 'bytes32', 'bytes32', 'uint256', 'address'].map((kind) => ({ type: kind }))
  const values = [hash(type), hash(name), hash(version), BigInt(chainId), verifyingContract]
  return keccak256(encodeAbiParameters(kinds, values))
}

export function transferCall(to: Address, value: bigint): Hex {
  return encodeFunctionData({ abi: ABI, functionName: 'transfer', args: [to, value] })
}

export function balanceCall(of: Address): Hex {
  return encodeFunctionData({ abi: ABI, functionName: 'balanceOf', args: [of] })
}

export function mintCall(to: Address, value: bigint): Hex {
  return encodeFunctionData({ abi: ABI, functionName: 'mint', args: [to, value] })
}

export function pausedCall(): Hex {
  return encodeFunctionData({ abi: ABI, functionName: 'paused' })
}

export function blacklistedCall(account: Address): Hex {
  return encodeFunctionData({ abi: ABI, functionName: 'isBlacklisted', args: [account] })
}

export function stateCall(payer: Address, nonce: Hex): Hex {
  return encodeFunctionData({ abi: ABI, functionName: 'authorizationState', args: [payer, nonce] })
}

export function authorizedCall(authorization: TransferAuthorization, signature: Hex): Hex {
  const { from, to, value, validBefore, nonce } = authorization
  const { r, s, yParity } = parseSignature(signature)
  const args = [from, to, value, 0n, validBefore, nonce, 27 + yParity, r, s] as const
  return encodeFunctionData({ abi: ABI, functionName: 'transferWithAuthorization', args })
}

/** A log in the format of nodes. */
export interface Log {
  readonly address: string
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly transactionHash?: string
}

const TRANSFER = toEventSelector('event Transfer(address indexed from, address indexed to, uint256 value)')
const USED = toEventSelector('event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)')

const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()

/** Returns the topics of the log that the contract emits when an authorization is used. */
export const usedTopics = (payer: Address, nonce: Hex): readonly Hex[] => [
  USED,
  padHex(payer, { size: 32 }),
  nonce,
]

/** Returns the topics of the logs that the contract emits when any authorization of a payer is used. */
export const usesTopics = (payer: Address): readonly Hex[] => [USED, padHex(payer, { size: 32 })]

/** Returns the only transfer of the payer in the logs of a transaction; undefined unless there is exactly one. */
export function findPaid(
  logs: readonly Log[],
  token: Address,
  payer: Address,
): Pick<TransferAuthorization, 'to' | 'value'> | undefined {
  const isOwn = ({ address, topics }: Log) =>
    same(address, token) &&
    topics.length === 3 &&
    same(topics[0]!, TRANSFER) &&
    same(topics[1]!, padHex(payer, { size: 32 }))
  const [transfer, ...others] = logs.filter(isOwn)
  if (!transfer || others.length > 0 || transfer.data === '0x') return undefined
  return { to: getAddress(`0x${transfer.topics[2]!.slice(-40)}`), value: BigInt(transfer.data) }
}

/** Returns whether the logs of a transaction show that the authorization was used and that the amount was transferred. */
export function hasPaid(
  logs: readonly Log[],
  token: Address,
  { from, to, value, nonce }: Omit<TransferAuthorization, 'validBefore'>,
): boolean {
  const own = logs.filter(({ address }) => same(address, token))
  const matches = ({ topics }: Log, wanted: readonly Hex[]) =>
    topics.length === wanted.length && wanted.every((topic, at) => same(topic, topics[at]!))
  const transfer = [TRANSFER, padHex(from, { size: 32 }), padHex(to, { size: 32 })]
  return (
    own.some((log) => matches(log, usedTopics(from, nonce))) &&
    own.some((log) => matches(log, transfer) && log.data !== '0x' && BigInt(log.data) === value)
  )
}

/** Decodes a string that a contract returned (ABI: offset, length, bytes). */
export function readString(data: Hex): string {
  const length = hexToNumber(`0x${data.slice(66, 130)}`)
  return Buffer.from(data.slice(130, 130 + length * 2), 'hex').toString()
}
