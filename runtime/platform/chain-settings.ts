import type { SettingName, SettingVariables } from './setting-catalog.ts'
import { onOff, type SettingProblem, type SettingReader, url, whole } from './setting-readers.ts'

/** The chain of USDC payouts, and their signer. */
export interface ChainSettings {
  /** JSON-RPC endpoint. If absent, the sandbox starts a test chain and live cannot pay out USDC. */
  readonly rpcUrl?: string
  readonly usdc?: string
  /** Chain ID (EIP-155). If absent, the one that the node reports at the first call. */
  readonly chainId?: number
  /** Blocks after which a payout counts as paid. */
  readonly confirmations: number
  /** Maximum gas price of a payout, in wei. */
  readonly maxFee: bigint
  /** Whether to reject test chains and publicly known keys. Otherwise they only cause a warning. */
  readonly production?: boolean
  /** Allows live payouts on a test chain and with a publicly known key. */
  readonly allowTestChain?: boolean
  /** Absent only without `rpcUrl`: the sandbox's test chain uses a publicly known key. */
  readonly signer?: SignerSettings
}

/** A private key, or an external signer (docs/payout-signer.md). */
export type SignerSettings =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'external'; readonly url: string; readonly token?: string }

const SIGNERS = ['SVC_PAYOUT_KEY', 'SVC_PAYOUT_SIGNER_URL'] as const
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const KEY = /^(0x)?[0-9a-fA-F]{64}$/
const GWEI = 1_000_000_000n

/**
 * Reads the chain settings; adds invalid variables to `problems`.
 *
 * @param production requires TLS to nodes and signers, except on this machine.
 */
export function readChain(
  env: SettingVariables,
  production: boolean,
  problems: SettingProblem[],
): ChainSettings {
  const read = <T>(variable: SettingName, parse: SettingReader<T>): T | undefined => {
    try {
      return parse(env[variable] || undefined)
    } catch (error) {
      problems.push({ variable, problem: error instanceof Error ? error.message : String(error) })
      return undefined
    }
  }
  const rpcUrl = read('SVC_CHAIN_RPC_URL', nearUrl(production))
  const usdc = env.SVC_USDC_ADDRESS || undefined
  if (usdc !== undefined && !ADDRESS.test(usdc))
    problems.push({
      variable: 'SVC_USDC_ADDRESS',
      problem: `"${usdc}" is not an address: expected 0x and 40 hexadecimal digits`,
    })
  if ((env.SVC_CHAIN_RPC_URL ? 1 : 0) !== (usdc === undefined ? 0 : 1)) {
    const variable = usdc === undefined ? 'SVC_USDC_ADDRESS' : 'SVC_CHAIN_RPC_URL'
    problems.push({
      variable,
      problem: 'is missing: set both SVC_CHAIN_RPC_URL and SVC_USDC_ADDRESS, or neither',
    })
  }
  const chainId = read('SVC_CHAIN_ID', whole(0, 1, 2_147_483_647))
  const confirmations = read('SVC_CHAIN_CONFIRMATIONS', whole(12, 1, 1000)) ?? 12
  const gwei = read('SVC_CHAIN_MAX_FEE_GWEI', whole(500, 1, 1_000_000)) ?? 500
  const allowTestChain = read('SVC_ALLOW_TEST_CHAIN', onOff(false)) ?? false
  const signer = readSigner(env, production, problems)
  if (rpcUrl !== undefined && !SIGNERS.some((each) => env[each]))
    problems.push({
      variable: 'SVC_PAYOUT_KEY',
      problem: `is missing: set one of ${SIGNERS.join(', ')} to sign payouts`,
    })
  return {
    confirmations,
    maxFee: BigInt(gwei) * GWEI,
    ...(production && { production }),
    ...(allowTestChain && { allowTestChain }),
    ...(rpcUrl !== undefined && { rpcUrl }),
    ...(usdc !== undefined && { usdc }),
    ...(chainId && { chainId }),
    ...(signer && { signer }),
  }
}

function readSigner(
  env: SettingVariables,
  production: boolean,
  problems: SettingProblem[],
): SignerSettings | undefined {
  const set = SIGNERS.filter((variable) => env[variable])
  if (set.length > 1) {
    problems.push({ variable: set.join(', '), problem: 'are both set: set only one of them to sign payouts' })
    return undefined
  }
  const { SVC_PAYOUT_KEY: key, SVC_PAYOUT_SIGNER_TOKEN: token } = env
  if (token && !env.SVC_PAYOUT_SIGNER_URL)
    problems.push({ variable: 'SVC_PAYOUT_SIGNER_TOKEN', problem: 'needs SVC_PAYOUT_SIGNER_URL' })
  if (key) {
    // The error does not repeat the value, which may contain most of a key.
    if (KEY.test(key)) return { kind: 'key', key }
    problems.push({
      variable: 'SVC_PAYOUT_KEY',
      problem: 'is not a private key: expected 64 hexadecimal digits',
    })
  }
  try {
    const address = nearUrl(production)(env.SVC_PAYOUT_SIGNER_URL || undefined)
    if (address) return { kind: 'external', url: address.replace(/\/$/, ''), ...(token && { token }) }
  } catch (error) {
    problems.push({ variable: 'SVC_PAYOUT_SIGNER_URL', problem: error instanceof Error ? error.message : '' })
  }
  return undefined
}

const OWN_MACHINE = /^(127\.[\d.]+|localhost|\[::1\])$/

/** Requires TLS in production, unless the host is this machine. */
function nearUrl(production: boolean): SettingReader<string | undefined> {
  return (text) => {
    const address = url(['http:', 'https:'])(text)
    if (address === undefined || !production) return address
    const { protocol, hostname } = new URL(address)
    if (protocol === 'https:' || OWN_MACHINE.test(hostname)) return address
    throw new Error('starts with http:// and names a different machine: production requires https://')
  }
}
