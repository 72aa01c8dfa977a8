import type { Post } from './posts.ts'

/** Every POST that moves money. */
export const MONEY_POSTS: readonly Post[] = [
  {
    operation: 'simulateFunding',
    status: 200,
    audit: ['funding.simulated'],
    events: [],
    prepare: async () => {
      // What nobody else funds tells it apart.
      const id = String(1_000_000 + Math.floor(Math.random() * 1_000_000_000))
      return { path: '/v1/test/funding', body: { amount: Number(id) }, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.ledger_entries
              WHERE tenant_id = $1 AND amount = $2::bigint AND account_id = 'program_funds'`,
    once: 1,
  },
]
