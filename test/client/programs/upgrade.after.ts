/** The same after its upgrade to 2026-05-19: a program for cards that are good for everything, and the accounts of settlement lines. */
import { createClient, type Known, type Schemas } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })

const ACCOUNTS: Record<Known<Schemas['SettlementLineType']>, string> = {
  card_transaction: '4000',
  card_refund: '4010',
  interchange: '4100',
  network_fee: '6100',
  dispute: '4020',
  dispute_reversal: '4030',
  program_funding: '1300',
  adjustment: '4900',
}

const program = await client.cardPrograms.create({
  name: 'Travel',
  kind: 'virtual',
  spending_controls: { blocked_categories: [] },
})
const open = program.spending_controls.blocked_categories.length === 0
console.log(JSON.stringify({ open, accounts: Object.values(ACCOUNTS) }))
