/** The worker of one chain: next to any number of others, of which one at a time sends for an account. */

import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Address } from 'viem'
import type { Pool } from '../../database/pool/pool.ts'
import type { Environment } from '../../platform/environment.ts'
import { createLeaseClock } from '../../work/lease-clock.ts'
import { acquireAccount, LostLease, releaseAccount } from './account-queries.ts'
import { type Chain, WrongChain } from './connect.ts'
import { findOpenAccounts } from './payment-queries.ts'
import type { TransferReportParts } from './report.ts'
import { type RoundResult, readHead, runRound } from './round.ts'
import type { Filling, PaymentLimits, Round } from './round-parts.ts'
import { RpcUnavailable } from './rpc.ts'
import { type DueTransfer, holdUp } from './sign.ts'
import { type Signer, SignerUnavailable } from './signer.ts'
import { findDueTransfers } from './transfer-queries.ts'

/** A chain that answers. */
export interface ChainLink {
  readonly chain: Chain
  /** Of a chain of our own: makes sure that what was sent has its confirmations. */
  mine?(blocks: number): Promise<void>
  /** Of a chain of our own: keeps what has happened. */
  save?(): Promise<void>
  /** False where it has to be opened again. */
  isCurrent(): Promise<boolean>
  stop(): Promise<void>
}

export interface ChainWorkerOptions extends TransferReportParts {
  readonly chainId: number
  /** Whose transfers are paid on it. */
  readonly environments: readonly Environment[]
  readonly control: Pool
  readonly limits: PaymentLimits
  /** Throws `SignerUnavailable`. */
  readonly openSigner: () => Promise<Signer>
  /** Opens the chain once there is something to send. Throws `RpcUnavailable`, `WrongChain`. */
  readonly openLink: (signer: Address) => Promise<ChainLink>
  readonly log: Logger
  /** In milliseconds: after a kill another worker goes on so much later. */
  readonly leaseMs?: number
}

export interface ChainWorker {
  /** Looks once. Gives whether it is worth looking again at once: a chain of our own has moved. */
  look(): Promise<boolean>
  /** Lets the account and the chain go. */
  close(): Promise<void>
}

const LEASE_MS = 20_000
const CLOCK_EVERY_MS = 60_000

/** Transfers that are found at a time. */
const BATCH = 48

export function createChainWorker(options: ChainWorkerOptions): ChainWorker {
  const { chainId, environments, pools, control, limits, log, leaseMs = LEASE_MS } = options
  const leaseClock = createLeaseClock(control, options.clock.machine)
  const token = randomUUID()
  let clockAt = Number.NEGATIVE_INFINITY
  let link: ChainLink | undefined
  const held = new Set<Address>()
  const fillings = new Map<Address, Map<number, Filling>>()
  const fillingsOf = (address: Address) => {
    const known = fillings.get(address) ?? new Map<number, Filling>()
    fillings.set(address, known)
    return known
  }

  const acquire = (address: Address) => {
    const now = leaseClock.now()
    return acquireAccount(control, { chainId, address }, { token, now, until: now + leaseMs })
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
      // One for all that is confirmed: it was mined before the round.
      ...(save && { save: () => (saved ??= save()) }),
      fillings: fillingsOf(address),
      head: await readHead(chain, address, limits.confirmations),
      goesOn: async () => (await acquire(address)) !== undefined,
    }
  }
  const send = async (signer: Signer, due: readonly DueTransfer[], accounts: readonly string[]) => {
    const others = accounts.filter((address) => address !== signer.address) as Address[]
    const results: RoundResult[] = []
    for (const address of [signer.address, ...others]) {
      const nextNonce = await acquire(address)
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
    if (performance.now() - clockAt > CLOCK_EVERY_MS) {
      await leaseClock.refresh()
      clockAt = performance.now()
    }
    const [due, accounts] = await Promise.all([findDue(), findOpenAccounts(control, chainId)])
    if (due.length === 0 && accounts.length === 0) {
      await release()
      return false
    }
    try {
      return await send(await options.openSigner(), due, accounts)
    } catch (error) {
      if (error instanceof LostLease) return false
      // Opened again, it is looked at again; a chain of our own begins where it was saved.
      if (!(error instanceof SignerUnavailable)) await disconnect()
      const isAway = error instanceof RpcUnavailable || error instanceof SignerUnavailable
      if (!isAway && !(error instanceof WrongChain)) throw error
      log.error(`payouts wait: ${error.message}`)
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
      await release()
    },
  }
}
