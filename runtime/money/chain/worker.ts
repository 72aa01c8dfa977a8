/** The worker of one chain. Any number of workers can run; only one at a time sends for an account. */

import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Address } from 'viem'
import { arePayoutsHeld } from '../../database/backup/restored.ts'
import type { Pool } from '../../database/pool/pool.ts'
import type { Environment } from '../../platform/environment.ts'
import { createLeaseClock } from '../../work/lease-clock.ts'
import { acquireAccount, LostLease, releaseAccount, renewAccount } from './account-queries.ts'
import { type Chain, WrongChain } from './connect.ts'
import { findOpenAccounts } from './payment-queries.ts'
import type { TransferReportParts } from './report.ts'
import { type RoundResult, readHead, runRound } from './round.ts'
import type { Filling, PaymentLimits, Round } from './round-parts.ts'
import { RpcUnavailable } from './rpc.ts'
import { type DueTransfer, holdUp } from './sign.ts'
import { type Signer, SignerUnavailable } from './signer.ts'
import { findDueTransfers } from './transfer-queries.ts'

/** An open connection to a chain. */
export interface ChainLink {
  readonly chain: Chain
  /** Built-in test chain only: mines blocks, so that sent payments get their confirmations. */
  mine?(blocks: number): Promise<void>
  /** Built-in test chain only: saves its state. */
  save?(): Promise<void>
  /** Returns false if the chain must be opened again. */
  isCurrent(): Promise<boolean>
  stop(): Promise<void>
}

export interface ChainWorkerOptions extends TransferReportParts {
  readonly chainId: number
  /** Environments that pay on this chain. */
  readonly environments: readonly Environment[]
  readonly control: Pool
  readonly limits: PaymentLimits
  /** Throws `SignerUnavailable`. */
  readonly openSigner: () => Promise<Signer>
  /** Opens the chain once there is something to send. Throws `RpcUnavailable` or `WrongChain`. */
  readonly openLink: (signer: Address) => Promise<ChainLink>
  readonly log: Logger
  /** Lease duration in milliseconds: the delay until another worker takes over after a crash. */
  readonly leaseMs?: number
}

export interface ChainWorker {
  /** Runs once. Returns whether to run again immediately, because the built-in test chain has advanced. */
  look(): Promise<boolean>
  /** Releases the leases and disconnects from the chain. */
  close(): Promise<void>
}

const LEASE_MS = 20_000

/** Maximum number of transfers found at a time. */
const BATCH = 48

export function createChainWorker(options: ChainWorkerOptions): ChainWorker {
  const { chainId, environments, pools, control, limits, log, leaseMs = LEASE_MS } = options
  const leaseClock = createLeaseClock(control, options.clock.machine)
  const token = randomUUID()
  let link: ChainLink | undefined
  let isHeld = false
  const held = new Set<Address>()
  const fillings = new Map<Address, Map<number, Filling>>()
  const fillingsOf = (address: Address) => {
    const known = fillings.get(address) ?? new Map<number, Filling>()
    fillings.set(address, known)
    return known
  }

  const lease = () => {
    const now = leaseClock.now()
    return { token, now, until: now + leaseMs }
  }
  const release = async () => {
    for (const address of held) await releaseAccount(control, { chainId, address }, token)
    held.clear()
  }
  const disconnect = async () => {
    const old = link
    link = undefined
    await old?.stop()
  }
  const openLink = async (signer: Address): Promise<ChainLink> => {
    if (link && !(await link.isCurrent())) await disconnect()
    link ??= await options.openLink(signer)
    return link
  }
  const findDue = async (): Promise<readonly DueTransfer[]> => {
    const found = await Promise.all(
      environments.map(async (environment) =>
        (await findDueTransfers(pools[environment], leaseClock.now(), BATCH)).map((row) => ({
          ...row,
          environment,
        })),
      ),
    )
    return found.flat()
  }
  const roundOf = async (signer: Signer, address: Address, { chain, save }: ChainLink): Promise<Round> => {
    let saved: Promise<void> | undefined
    return {
      ...options,
      chain,
      signer,
      account: { chainId, address },
      token,
      now: leaseClock.now,
      // One save covers all confirmations of the round, because their blocks were mined before it.
      ...(save && { save: () => (saved ??= save()) }),
      fillings: fillingsOf(address),
      head: await readHead(chain, address, limits.confirmations),
      goesOn: () => renewAccount(control, { chainId, address }, lease()),
    }
  }
  const send = async (signer: Signer, due: readonly DueTransfer[], accounts: readonly string[]) => {
    const others = accounts.filter((address) => address !== signer.address) as Address[]
    const results: RoundResult[] = []
    for (const address of [signer.address, ...others]) {
      const nextNonce = await acquireAccount(control, { chainId, address }, lease())
      if (nextNonce === undefined) continue
      held.add(address)
      const open = await openLink(signer.address)
      const round = await roundOf(signer, address, open)
      results.push(await runRound(round, nextNonce, address === signer.address ? due : []))
    }
    const isMoving = results.some(({ signed, moving }) => signed + moving > 0)
    if (!isMoving || !link?.mine) return false
    await link.mine(limits.confirmations)
    return true
  }
  const look = async (): Promise<boolean> => {
    await leaseClock.refresh()
    const [due, accounts] = await Promise.all([findDue(), findOpenAccounts(control, chainId)])
    if (due.length === 0 && accounts.length === 0) {
      await release()
      return false
    }
    // Checked before each run, so that nothing is signed or sent before the chain was compared with a restored database.
    if (await arePayoutsHeld(control)) {
      if (!isHeld) log.error('USDC payouts wait: the database was restored; run admin reconcile')
      isHeld = true
      await release()
      return false
    }
    isHeld = false
    try {
      return await send(await options.openSigner(), due, accounts)
    } catch (error) {
      if (error instanceof LostLease) return false
      // Reconnect for the next run. The built-in test chain then restarts from its saved state.
      if (!(error instanceof SignerUnavailable)) await disconnect()
      const isAway = error instanceof RpcUnavailable || error instanceof SignerUnavailable
      if (!isAway && !(error instanceof WrongChain)) throw error
      log.error(`USDC payouts wait: ${error.message}`)
      const now = leaseClock.now()
      for (const transfer of due)
        await holdUp(options, transfer, { problem: error.message, now, due: now + limits.retryMs })
      return false
    }
  }
  return {
    look,
    close: async () => {
      await disconnect()
      // A lease that is not released ends by itself, and the process has more to stop.
      await release().catch((err) => log.warn({ err }, 'leases of payout accounts not released'))
    },
  }
}
