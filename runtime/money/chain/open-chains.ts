/** Decides which chain the payouts of each environment use. */

import type { Logger } from 'pino'
import type { Pool } from '../../database/pool/pool.ts'
import type { ChainSettings, SignerSettings } from '../../platform/chain-settings.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { stopTogether } from '../../platform/stopping.ts'
import type { DeclaredWorker } from '../../work/workers.ts'
import { findChainOfToken, rememberChain } from './chain-queries.ts'
import {
  type Danger,
  dangerOfChain,
  dangerOfKey,
  describeDanger,
  isTestChain,
  NOTHING_KNOWN,
} from './dangers.ts'
import { caip2, TEST_CHAIN_ID, TEST_USDC } from './own-chain.ts'
import type { TransferReportParts } from './report.ts'
import type { PaymentLimits } from './round-parts.ts'
import { createRpc, RpcUnavailable } from './rpc.ts'
import { startChainWorker } from './start-worker.ts'
import type { ChainLink } from './worker.ts'

/** A chain as payout destinations refer to it. */
export interface ChainInfo {
  /** EIP-155 chain ID. */
  readonly id: number
  /** CAIP-2 name. */
  readonly name: string
  /** Address of the USDC contract, with its EIP-55 checksum. */
  readonly token: string
  /** Whether this is the sandbox's built-in test chain. */
  readonly isOwn: boolean
}

export interface Chains {
  /** Undefined if the environment makes no USDC payouts, which is the case in live without a node. */
  readonly of: Readonly<Record<Environment, ChainInfo | undefined>>
  /**
   * Warnings for the dashboard and the ready line if the operator has allowed test chains and publicly known keys; one
   * sentence each.
   */
  readonly warnings: readonly string[]
  /** Starts a worker for each chain. */
  start(
    parts: TransferReportParts & { readonly control: Pool; readonly log: Logger },
  ): Pick<DeclaredWorker, 'stop'>
}

const OWN: ChainInfo = { id: TEST_CHAIN_ID, name: caip2(TEST_CHAIN_ID), token: TEST_USDC, isOwn: true }

const LIMITS = { authorizationS: 3600, giveUpMs: 600_000, retryMs: 5000, resendMs: 15_000, replaceMs: 60_000 }

/** Maximum time to wait for the node at startup, in milliseconds. */
const START_MS = 4000

/**
 * Identifies the node in the settings. Throws an error that starts with the variable's name if the chain is not the one used
 * before, if the contract is not USDC, or if an unknown node does not respond. Unless SVC_ALLOW_TEST_CHAIN is set, it also
 * throws for a test chain in production, and for a publicly known key on a chain with real value.
 */
export async function openChains(settings: ChainSettings, control: Pool, log: Logger): Promise<Chains> {
  const configured = settings.rpcUrl === undefined ? undefined : await identifyNode(settings, control, log)
  const isTest = configured !== undefined && isTestChain(configured.id)
  const of = { sandbox: isTest ? configured : OWN, live: configured }
  const dangers = configured ? await findDangers(settings, configured) : []
  for (const each of dangers) {
    if (each.isRefused) throw new Error(describeDanger(each))
    log.warn(each.sentence)
  }
  log.info(`USDC payouts in the sandbox: ${describeChain(of.sandbox)}; in live: ${describeChain(of.live)}`)
  const limits = { ...LIMITS, confirmations: settings.confirmations, maxFee: settings.maxFee }
  return {
    of,
    warnings: settings.allowTestChain ? warningsOf(dangers) : [],
    start: (parts) => {
      const chains = new Set(ENVIRONMENTS.flatMap((each) => of[each] ?? []))
      const jobs = [...chains].map((chain) => startFor(chain, of, { settings, limits, parts }))
      return {
        stop: () => stopTogether(jobs.map((job) => job.stop)),
      }
    },
  }
}

const warningsOf = (dangers: readonly Danger[]): readonly string[] =>
  dangers.length > 0 ? dangers.map(({ sentence }) => sentence) : [NOTHING_KNOWN]

async function findDangers(settings: ChainSettings, { id }: ChainInfo): Promise<readonly Danger[]> {
  const ofChain = dangerOfChain(settings, id)
  const { signer } = settings
  // An external signer is first called for the first payout.
  const isNear = signer !== undefined && signer.kind !== 'external'
  const ofKey = isNear ? dangerOfKey(settings, id, await addressOf(signer)) : undefined
  return [ofChain, ofKey].filter((each) => each !== undefined)
}

async function addressOf(signer: SignerSettings): Promise<string> {
  const { openSigner } = await import('./open-signer.ts')
  return (await openSigner(signer)()).address
}

interface Start {
  readonly settings: ChainSettings
  readonly limits: PaymentLimits
  readonly parts: TransferReportParts & { readonly control: Pool; readonly log: Logger }
}

function startFor(
  chain: ChainInfo,
  of: Chains['of'],
  { settings, limits, parts }: Start,
): Pick<DeclaredWorker, 'stop'> {
  let signer: ReturnType<typeof import('./open-signer.ts').openSigner> | undefined
  return startChainWorker({
    ...parts,
    chainId: chain.id,
    environments: ENVIRONMENTS.filter((each) => of[each] === chain),
    limits,
    openSigner: async () => {
      const [{ openSigner }, { SignerUnavailable }] = await Promise.all([
        import('./open-signer.ts'),
        import('./signer.ts'),
      ])
      signer ??= openSigner(settings.signer)
      const opened = await signer()
      const danger = chain.isOwn ? undefined : dangerOfKey(settings, chain.id, opened.address)
      if (danger?.isRefused) throw new SignerUnavailable(describeDanger(danger))
      return opened
    },
    openLink: async (payer) => {
      if (!chain.isOwn) return linkTo(settings.rpcUrl!, chain)
      const { openTestChain } = await import('./test-chain.ts')
      const link = await openTestChain(parts.control, payer)
      parts.log.info({ url: link.url, chain: chain.name }, 'The sandbox test chain is running.')
      return link
    },
  })
}

async function linkTo(rpcUrl: string, { id, token }: ChainInfo): Promise<ChainLink> {
  const { connect } = await import('./connect.ts')
  const chain = await connect(createRpc(rpcUrl), id, token as `0x${string}`)
  return { chain, isCurrent: async () => true, stop: async () => {} }
}

async function identifyNode(settings: ChainSettings, control: Pool, log: Logger): Promise<ChainInfo> {
  const { getAddress } = await import('viem')
  const token = getAddress(settings.usdc!.toLowerCase())
  const info = (id: number): ChainInfo => ({ id, name: caip2(id), token, isOwn: false })
  try {
    const { id, genesis } = await examineNode(settings)
    if (await rememberChain(control, { id, genesis, token })) return info(id)
    throw new Error(
      `SVC_CHAIN_RPC_URL: chain ${id} is not the chain that this database has paid on: their first blocks differ`,
    )
  } catch (error) {
    if (!(error instanceof RpcUnavailable)) throw error
    const id = settings.chainId ?? (await findChainOfToken(control, token))?.id
    if (id === undefined)
      throw new Error(`SVC_CHAIN_RPC_URL: ${error.message}. To start without the node, set SVC_CHAIN_ID`)
    log.error(`USDC payouts wait: ${error.message}`)
    return info(id)
  }
}

/**
 * Returns the node's chain after checking the contract. Throws `RpcUnavailable`, or an error that starts with the variable's
 * name.
 */
export async function examineNode(
  settings: ChainSettings,
): Promise<{ readonly id: number; readonly genesis: string; readonly chain: import('./connect.ts').Chain }> {
  const { connect, identify } = await import('./connect.ts')
  const { getAddress, isAddress } = await import('viem')
  const { usdc = '', rpcUrl = '' } = settings
  const isMixed = usdc !== usdc.toLowerCase() && usdc.slice(2) !== usdc.slice(2).toUpperCase()
  if (isMixed && !isAddress(usdc))
    throw new Error('SVC_USDC_ADDRESS: the EIP-55 checksum is wrong. Check the address for typing errors')
  const rpc = createRpc(rpcUrl, START_MS)
  const { id, genesis } = await identify(rpc)
  if (settings.chainId !== undefined && settings.chainId !== id)
    throw new Error(`SVC_CHAIN_RPC_URL: ${rpc.place} is chain ${id}, but SVC_CHAIN_ID is ${settings.chainId}`)
  return { id, genesis, chain: await connect(rpc, id, getAddress(usdc.toLowerCase())) }
}

/** Describes a chain for people. */
export function describeChain(chain: ChainInfo | undefined): string {
  if (!chain) return 'none; USDC payouts require SVC_CHAIN_RPC_URL'
  const whose = chain.isOwn ? ', the built-in test chain' : ''
  return `${chain.name}${whose}, USDC at ${chain.token}`
}
