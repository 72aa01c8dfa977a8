/** Exports settlements for bookkeeping, and opens disputes. Written for 2025-11-01. */

import type { ClientOptions, SettlementLine } from '@dateline/passes/2025-11-01'
import { type Client, createClient, type Known, type Schemas } from '@dateline/passes/2025-11-01'

type LineType = Known<Schemas['SettlementLineType']>

const ACCOUNTS: Record<LineType, string> = {
  cardTransaction: '4000',
  cardRefund: '4010',
  interchange: '4100',
  networkFee: '6100',
  dispute: '4020',
  disputeReversal: '4030',
  programFunding: '1300',
  adjustment: '4900',
}

const isKnown = (type: string): type is LineType => Object.hasOwn(ACCOUNTS, type)

export const open = (fetch: NonNullable<ClientOptions['fetch']>): Client =>
  createClient({ baseUrl: 'https://api.example.com', apiKey: 'sk_test_1', fetch })

/** Returns a row for each line: account, amount in cents, and its sign in words. */
export async function exportLines(client: Client, settlement: string): Promise<string[]> {
  const rows: string[] = []
  for (const line of (await client.getSettlement({ path: { settlement_id: settlement } })).lines)
    rows.push(`${isKnown(line.type) ? ACCOUNTS[line.type] : '9999'};${line.amount};${directionOf(line)}`)
  return rows
}

function directionOf({ type }: SettlementLine): string {
  switch (type) {
    case 'cardRefund':
    case 'disputeReversal':
      return 'back'
    case 'programFunding':
      return 'in'
    default:
      return 'out'
  }
}

/** Returns the sum of the fees of a settlement, in cents. */
export async function feesOf(client: Client, settlement: string): Promise<number> {
  const page = await client.listSettlementLines({
    path: { settlement_id: settlement },
    query: { type: 'networkFee' },
  })
  return page.data.reduce((sum, { amount, type }) => (type === 'networkFee' ? sum + amount : sum), 0)
}

export async function contest(client: Client, transaction: string): Promise<boolean> {
  const dispute = await client.createDispute({
    body: { card_transaction_id: transaction, amount: 900, reason: 'customer_dispute' },
  })
  return dispute.reason === 'customer_dispute'
}

/** Returns whether a settlement earned interchange. */
export const hasEarned = ({ interchange_amount: earned }: Schemas['Settlement']): boolean => earned > 0

/** Returns the part of a settlement’s transactions that were spent on food. */
export const isFood = ({ merchant }: Schemas['CardTransaction']): boolean =>
  merchant.category_code === 'restaurants'

export const countAll = async (client: Client): Promise<number> =>
  (await client.countPasses({ query: { include_archived: true } })).count
