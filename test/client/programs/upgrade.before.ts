/** Written for 2025-11-01: a program for cards that are good for everything, and the accounts of settlement lines. */
import { createClient, type Known, type Schemas } from '@dateline/passes/2025-11-01'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })

const ACCOUNTS: Record<Known<Schemas['SettlementLineType']>, string> = {
  cardTransaction: '4000',
  cardRefund: '4010',
  interchange: '4100',
  networkFee: '6100',
  dispute: '4020',
  disputeReversal: '4030',
  programFunding: '1300',
  adjustment: '4900',
}

const program = await client.createCardProgram({
  body: { name: 'Travel', kind: 'virtual', spending_controls: { allowed_categories: null } },
})
const open = program.spending_controls.allowed_categories === null
console.log(JSON.stringify({ open, accounts: Object.values(ACCOUNTS) }))
