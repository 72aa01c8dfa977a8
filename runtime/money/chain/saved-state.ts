/** The saved state of the built-in test chain: gzipped JSON, as anvil dumps and loads it. */
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { type Hex, hexToNumber } from 'viem'

/**
 * Number of blocks that a saved state keeps. The blocks of open payments are among them: at most 48 payments are open, and
 * the worker mines their confirmations in each round.
 */
const KEPT_BLOCKS = 256

/** What is read of a dump. Anvil writes a few hundred bytes for each block. */
interface Dump {
  readonly blocks: readonly { readonly header: { readonly number: Hex } }[]
  readonly transactions: readonly { readonly block_number: number }[]
}

/**
 * Drops old blocks and their transactions if the chain has twice as many blocks as are kept. Balances and contracts stay.
 * Returns undefined if nothing is dropped.
 */
export async function pruneState(state: Buffer): Promise<Buffer | undefined> {
  const dump: Dump = JSON.parse((await promisify(gunzip)(state)).toString())
  if (dump.blocks.length <= 2 * KEPT_BLOCKS) return undefined
  const numberOf = ({ header }: Dump['blocks'][number]) => hexToNumber(header.number)
  const last = dump.blocks.reduce((most, block) => Math.max(most, numberOf(block)), 0)
  const isKept = (number: number) => number > last - KEPT_BLOCKS
  const pruned = {
    ...dump,
    blocks: dump.blocks.filter((block) => isKept(numberOf(block))),
    transactions: dump.transactions.filter(({ block_number }) => isKept(block_number)),
  }
  return promisify(gzip)(JSON.stringify(pruned))
}
