import type { Statement } from '../database/database.ts'
import { createRpc } from '../money/chain/rpc.ts'
import { isoTime, type Operator } from '../tenants/admin/change.ts'

const CHAINS: Statement = {
  text: `SELECT c.id, c.token, c.url, c.state IS NOT NULL AS own FROM control.chains c ORDER BY c.id`,
}
const SIGNERS: Statement = {
  text: `SELECT s.chain_id, s.address, s.next_nonce, s.lease_until > now() AS sending,
                count(p.nonce) FILTER (WHERE p.state = 'open')::integer AS open,
                count(p.nonce) FILTER (WHERE p.state = 'settled')::integer AS paid,
                count(p.nonce) FILTER (WHERE p.state = 'failed')::integer AS failed
           FROM control.chain_signers s
           LEFT JOIN control.chain_payments p ON p.chain_id = s.chain_id AND p.signer = s.address
          GROUP BY s.chain_id, s.address ORDER BY s.chain_id, s.address`,
}
/**
 * Problems of signers, which stop all payouts of the account, and of single payments. Nonces are read as text, because
 * they may exceed the safe integer range.
 */
const PROBLEMS: Statement = {
  text: `SELECT s.chain_id, s.address AS signer, NULL AS nonce, NULL AS environment, NULL AS transfer_id, s.problem, s.held_up_since
           FROM control.chain_signers s WHERE s.problem IS NOT NULL
         UNION ALL
         (SELECT p.chain_id, p.signer, p.nonce::text, p.environment, p.transfer_id, p.problem, p.held_up_since
            FROM control.chain_payments p WHERE p.state = 'open' AND p.problem IS NOT NULL
           ORDER BY p.held_up_since, p.chain_id, p.signer, p.nonce LIMIT 20)`,
}

interface ChainRow {
  readonly id: number
  readonly token: string
  readonly url: string | null
  readonly own: boolean
}

interface SignerRow {
  readonly chain_id: number
  readonly address: string
}

interface ProblemRow {
  readonly chain_id: number
  readonly held_up_since: number | null
}

/** Time limit for the node of a test chain. After it, the chain is shown without its head. */
const DEADLINE_MS = 2000

/**
 * Returns the chains on which payouts were made, their signers, the number of payments in each state and the problems
 * of payments that are held up. `rpc_url` and `head` are set only for a running test chain of the service.
 */
export async function showChains({ control }: Operator): Promise<{ readonly chains: readonly object[] }> {
  const [chains, signers, problems] = await Promise.all([
    control.query<ChainRow>(CHAINS),
    control.query<SignerRow>(SIGNERS),
    control.query<ProblemRow>(PROBLEMS),
  ])
  const shown = chains.rows.map(async ({ id, token, url, own }) => ({
    id: `eip155:${id}`,
    usdc: token,
    own,
    ...(own && (await locate(url))),
    signers: signers.rows.filter(({ chain_id }) => chain_id === id).map(({ chain_id, ...signer }) => signer),
    problems: problems.rows
      .filter(({ chain_id }) => chain_id === id)
      .map(({ chain_id, held_up_since, ...problem }) => ({
        ...problem,
        held_up_since: isoTime(held_up_since),
      })),
  }))
  return { chains: await Promise.all(shown) }
}

async function locate(url: string | null): Promise<{ rpc_url: string | null; head: number | null }> {
  if (url === null) return { rpc_url: null, head: null }
  try {
    const head = await createRpc(url, DEADLINE_MS).ask<string>('eth_blockNumber')
    return { rpc_url: url, head: Number(head) }
  } catch {
    return { rpc_url: null, head: null } // the next payout starts it
  }
}
