import { resolve } from 'node:path'
import { onOff, type SettingProblem, type SettingReader, url, whole } from './setting-readers.ts'

/** Which chain pays out, and who signs there. */
export interface ChainSettings {
  /** JSON-RPC of a node; absent: the sandbox has a chain of its own, and live pays nobody. */
  readonly rpcUrl?: string
  /** The contract of USDC there. */
  readonly usdc?: string
  /** Number of the chain (EIP-155); absent: whatever the node says when it is first asked. */
  readonly chainId?: number
  /** Blocks after which a payment counts as made. */
  readonly confirmations: number
  /** Wei for a unit of gas above which nothing is sent. */
  readonly maxFee: bigint
  /** Whether test chains and publicly known keys are refused; default: they are warned of. */
  readonly production?: boolean
  /** The operator allows live to pay on a test chain, and with a publicly known key. */
  readonly allowTestChain?: boolean
  /** Absent only without a node: the key of the own chain is known to everybody. */
  readonly signer?: SignerSettings
}

/** A private key, a file with one, or a signer elsewhere (docs/payout-signer.md). */
export type SignerSettings =
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'external'; readonly url: string; readonly token?: string }

const SIGNERS = ['SVC_PAYOUT_KEY', 'SVC_PAYOUT_KEY_FILE', 'SVC_PAYOUT_SIGNER_URL'] as const
const ADDRESS = /^0x[0-9a-fA-F]{40}$/
const KEY = /^(0x)?[0-9a-fA-F]{64}$/
const GWEI = 1_000_000_000n

type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** @param production there nodes and signers are reached over TLS, but on the machine itself. */
export function readChain(
  env: EnvironmentVariables,
  production: boolean,
  problems: SettingProblem[],
): ChainSettings {
  const read = <T>(variable: string, parse: SettingReader<T>): T | undefined => {
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
    problems.push({ variable: 'SVC_USDC_ADDRESS', problem: `"${usdc}" is no address such as 0x8335…2913` })
  if ((env.SVC_CHAIN_RPC_URL ? 1 : 0) !== (usdc === undefined ? 0 : 1)) {
    const variable = usdc === undefined ? 'SVC_USDC_ADDRESS' : 'SVC_CHAIN_RPC_URL'
    problems.push({ variable, problem: 'is missing; SVC_CHAIN_RPC_URL and SVC_USDC_ADDRESS go together' })
  }
  const chainId = read('SVC_CHAIN_ID', whole(0, 1, 2_147_483_647))
  const confirmations = read('SVC_CHAIN_CONFIRMATIONS', whole(12, 1, 1000)) ?? 12
  const gwei = read('SVC_CHAIN_MAX_FEE_GWEI', whole(500, 1, 1_000_000)) ?? 500
  const allowTestChain = read('SVC_ALLOW_TEST_CHAIN', onOff(false)) ?? false
  const signer = readSigner(env, production, problems)
  if (rpcUrl !== undefined && !SIGNERS.some((each) => env[each]))
    problems.push({
      variable: 'SVC_PAYOUT_KEY',
      problem: `is missing: one of ${SIGNERS.join(', ')} signs payouts`,
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
  env: EnvironmentVariables,
  production: boolean,
  problems: SettingProblem[],
): SignerSettings | undefined {
  const set = SIGNERS.filter((variable) => env[variable])
  if (set.length > 1) {
    problems.push({ variable: set.join(', '), problem: 'are set together: one of them signs' })
    return undefined
  }
  const { SVC_PAYOUT_KEY: key, SVC_PAYOUT_KEY_FILE: path, SVC_PAYOUT_SIGNER_TOKEN: token } = env
  if (token && !env.SVC_PAYOUT_SIGNER_URL)
    problems.push({ variable: 'SVC_PAYOUT_SIGNER_TOKEN', problem: 'goes with SVC_PAYOUT_SIGNER_URL' })
  if (key) {
    // Nothing of what was given is shown: it may be most of a key.
    if (KEY.test(key)) return { kind: 'key', key }
    problems.push({ variable: 'SVC_PAYOUT_KEY', problem: 'is no private key: 32 bytes in hex are' })
  }
  if (path) return { kind: 'file', path: resolve(path) }
  try {
    const address = nearUrl(production)(env.SVC_PAYOUT_SIGNER_URL || undefined)
    if (address) return { kind: 'external', url: address.replace(/\/$/, ''), ...(token && { token }) }
  } catch (error) {
    problems.push({ variable: 'SVC_PAYOUT_SIGNER_URL', problem: error instanceof Error ? error.message : '' })
  }
  return undefined
}

const OWN_MACHINE = /^(127\.[\d.]+|localhost|\[::1\])$/

/** Over TLS in production, unless it is on this machine. */
function nearUrl(production: boolean): SettingReader<string | undefined> {
  return (text) => {
    const address = url(['http:', 'https:'])(text)
    if (address === undefined || !production) return address
    const { protocol, hostname } = new URL(address)
    if (protocol === 'https:' || OWN_MACHINE.test(hostname)) return address
    throw new Error('starts with http:// and leads off this machine: production needs https://')
  }
}
