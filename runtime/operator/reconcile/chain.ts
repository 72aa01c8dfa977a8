/** Compares the payments of the payout accounts on the chain with the database. */
import type { Statement } from '../../database/database.ts'
import { readSpace } from '../../database/space.ts'
import type { AuthorizationUse } from '../../money/chain/uses.ts'
import type { ChainSettings } from '../../platform/chain-settings.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import type { DestinationPlace, FoundOutside, PlannedChange } from './finding.ts'
import type { FoundRecorder } from './record.ts'

const SIGNERS: Statement = { text: 'SELECT s.address FROM control.chain_signers s WHERE s.chain_id = $1' }

const KNOWN: Statement = {
  text: `SELECT p.hash FROM control.chain_payments p WHERE p.chain_id = $1 AND p.hash = ANY ($2) AND p.state <> 'displaced'
         UNION SELECT t.hash FROM control.chain_transactions t WHERE t.chain_id = $1 AND t.hash = ANY ($2)
         ${ENVIRONMENTS.map((each) => `UNION SELECT p.transaction_hash FROM ${each}.payouts p WHERE p.transaction_hash = ANY ($2)`).join(' ')}`,
}

/** Transfers that are not paid according to the database, and whether a payment was signed for them. */
const OPEN: Statement = {
  text: ENVIRONMENTS.map(
    (each) => `SELECT '${each}' AS environment, c.tenant_id AS space, c.id, c.recipient, c.amount::text,
                      EXISTS (SELECT FROM control.chain_payments p WHERE p.environment = '${each}' AND p.transfer_id = c.id
                                                                     AND p.state <> 'displaced') AS signed
                 FROM ${each}.chain_transfers c WHERE c.due IS NOT NULL`,
  ).join(' UNION ALL '),
}

const FOLLOWED: Statement = {
  text: `SELECT p.environment, p.space, p.transfer_id AS id, p.recipient, p.value::text AS amount, true AS signed
           FROM control.chain_payments p WHERE p.chain_id = $1 AND p.state = 'open'`,
}

const DESTINATIONS: Statement = {
  text: ENVIRONMENTS.map(
    (each) =>
      `SELECT '${each}' AS environment, d.tenant_id AS space, d.id FROM ${each}.payout_destinations d WHERE d.address = $1`,
  ).join(' UNION ALL '),
}

interface OpenTransfer {
  readonly environment: Environment
  readonly space: string
  readonly id: string
  readonly recipient: string
  /** Cents. */
  readonly amount: string
  readonly signed: boolean
}

/** The result of a comparison. */
export interface Comparison {
  readonly changes: readonly PlannedChange[]
  /** What was compared, for people. */
  readonly words: string
}

/**
 * Finds payments that the database does not know.
 * @param since machine time from which on the chain is read.
 */
export async function compareChain(
  settings: ChainSettings,
  recorder: FoundRecorder,
  since: number,
): Promise<Comparison> {
  if (settings.rpcUrl === undefined) {
    const words = 'the test chain of the sandbox is stored in the database, so it was restored with it'
    return { changes: [], words }
  }
  const { examineNode } = await import('../../money/chain/open-chains.ts')
  const [{ findUses }, { openSigner }, { nonceOf }] = await Promise.all([
    import('../../money/chain/uses.ts'),
    import('../../money/chain/open-signer.ts'),
    import('../../money/chain/token.ts'),
  ])
  const { id: chainId, chain } = await examineNode(settings)
  const { control } = recorder.operator
  const { rows: signers } = await control.query<{ address: `0x${string}` }>(SIGNERS, [chainId])
  const own = await openSigner(settings.signer)()
  const payers = new Set([own.address, ...signers.map(({ address }) => address)])
  const uses: AuthorizationUse[] = []
  for (const payer of payers) uses.push(...(await findUses(chain, payer, since, settings.confirmations)))
  const hashes = uses.map(({ hash }) => hash)
  const known = new Set(
    (await control.query<{ hash: string }>(KNOWN, [chainId, hashes])).rows.map(({ hash }) => hash),
  )
  const open = [
    ...(await control.query<OpenTransfer>(OPEN)).rows,
    ...(await control.query<OpenTransfer>(FOLLOWED, [chainId])).rows,
  ]
  const byAuthorization = new Map(open.map((each) => [nonceOf(each.id), each]))
  const changes: PlannedChange[] = []
  for (const use of uses.filter(({ hash }) => !known.has(hash))) {
    const transfer = byAuthorization.get(use.authorization)
    if (transfer?.signed) continue // workers follow its payment, and find this transaction
    changes.push(
      transfer ? planAdoption(recorder, chainId, use, transfer) : await planRecord(recorder, chainId, use),
    )
  }
  const words = `${uses.length} payments of ${[...payers].join(' and ')} on chain ${chainId} since ${new Date(since).toISOString()}`
  return { changes, words }
}

const foundOn = (
  use: AuthorizationUse,
  rest: Pick<FoundOutside, 'action' | 'reason'> & Partial<FoundOutside>,
) => ({
  ...({ from: 'chain', payment: use.hash, environment: null, tenant_id: null, payout_id: null } as const),
  amount: use.cents ?? null,
  ...rest,
})

function planAdoption(
  { operator }: FoundRecorder,
  chainId: number,
  use: AuthorizationUse,
  { environment, space, id, recipient, amount }: OpenTransfer,
): PlannedChange {
  const place = { environment, payout_id: id, tenant_id: readSpace(space).tenantId }
  const { nonce, hash, payer, block } = use
  if (nonce === undefined) {
    const reason =
      'a different account sent the transaction of this payout: end the payout with admin payout decide'
    return { found: foundOn(use, { action: 'unknown', ...place, reason }) }
  }
  const reason = 'paid after the time to which the database was restored; workers follow this payment'
  return {
    space,
    found: foundOn(use, { action: 'adopt', ...place, reason }),
    apply: async () => {
      const { adoptPayment } = await import('../../money/chain/payment-queries.ts')
      const { UNITS_PER_CENT } = await import('../../money/chain/token.ts')
      const payment = { nonce, environment, space, transfer_id: id, recipient: recipient.split(':')[2] ?? '' }
      const value = BigInt(amount) * UNITS_PER_CENT
      const account = { chainId, address: payer }
      if (await adoptPayment(operator.control, account, { ...payment, value, after_block: block, hash }))
        return
      throw new Error(
        `payout ${id}: the database has a different payment with nonce ${nonce}; run admin chain status`,
      )
    },
  }
}

async function planRecord(
  recorder: FoundRecorder,
  chainId: number,
  use: AuthorizationUse,
): Promise<PlannedChange> {
  const { recipient, cents, hash, isCertain } = use
  const chain = `eip155:${chainId}`
  if (recipient === undefined || cents === undefined)
    return {
      found: foundOn(use, { action: 'unknown', reason: 'the transaction shows no transfer of whole cents' }),
    }
  const { control } = recorder.operator
  const { rows } = await control.query<DestinationPlace>(DESTINATIONS, [`${chain}:${recipient}`])
  const [destination, ...others] = rows
  if (!destination || others.length > 0) {
    const whose = destination ? `${rows.length} tenants have` : 'no tenant has'
    return {
      found: foundOn(use, {
        action: 'unknown',
        reason: `${whose} a destination with the address ${recipient}`,
      }),
    }
  }
  const { environment, space } = destination
  const place = { environment, tenant_id: readSpace(space).tenantId }
  if (!isCertain)
    return {
      found: foundOn(use, { action: 'wait', ...place, reason: 'the transaction has too few confirmations' }),
    }
  const reason = 'the database has no payout for this payment'
  const id = newId('po', recorder.operator.clock.service(environment))
  return {
    space,
    found: foundOn(use, { action: 'record', ...place, payout_id: id, reason }),
    apply: () => recorder.record(destination, { id, amount: cents, at: { chain, hash } }),
  }
}
