/** What a merchant does with payout destinations. */
import type { Environment } from '../../../runtime/platform/environment.ts'
import { accountOf, addressOf, CHAIN_ID, USDC } from '../chain/node.ts'
import { fail, mustEqual } from '../checks/must.ts'
import type { Answer } from '../client.ts'
import type { Merchant } from '../merchant.ts'
import { LISTED_NAME } from '../sanctions.ts'
import { type Actions, type Drawn, must, mustRefuse, one } from './action.ts'

const HOLDER = 'Harbour Coffee LLC'

/** The wallet of a company on the built-in list of sanctions. */
const LISTED_WALLET = '0x5a9E0F1C2b3d4e5F60718293A4b5c6d7e8f90112'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** Notes a new destination, and compares it with what was asked for. */
function created(
  merchant: Merchant,
  environment: Environment,
  answer: Answer,
  wanted: {
    readonly [name: string]: unknown
    readonly default?: boolean | undefined
    readonly isListed?: boolean
  },
): void {
  const body = must(answer, 201, 'a destination')
  const { isListed = false, default: asked, ...others } = wanted
  const isDefault = !isListed && (asked ?? merchant.defaults[environment].at(-1)?.id === undefined)
  merchant.destinations.set(body.id, { environment, body })
  merchant.changes.push({
    environment,
    type: isListed ? 'payout_destination.denied' : 'payout_destination.created',
    body,
  })
  if (!merchant.isExact) return
  const { id, active_at: activeAt, created: at, updated, ...shown } = body
  mustEqual(
    shown,
    {
      ...{ object: 'payout_destination', status: isListed ? 'denied' : 'inactive', default: isDefault },
      ...{ address: null, bank_account: null, holder_name: HOLDER, metadata: {}, ...others },
    },
    'a new destination',
  )
  const ahead = environment === 'sandbox' ? merchant.aheadSeconds * 1000 : 0
  const [activeMs, createdMs] = [Date.parse(activeAt), Date.parse(at)]
  const isTimely = isListed ? activeAt === null : Math.abs(activeMs - createdMs - DAY_MS - ahead) < MINUTE_MS
  if (!isTimely || updated !== at || Math.abs(createdMs - Date.now()) > MINUTE_MS)
    fail(`a destination of ${at} is active at ${activeAt}, and was updated at ${updated}`)
  if (isDefault) setDefault(merchant, environment, id)
}

/** Notes which destination settlements are paid to from now on. */
export function setDefault(merchant: Merchant, environment: Environment, id: string | undefined): void {
  merchant.defaults[environment].push({ at: Date.now(), id })
}

const METADATA = { region: 'west', team: 'a' }

async function addAddress(merchant: Merchant, { amount, pick }: Drawn): Promise<void> {
  const { name, sandbox, addresses } = merchant
  const owner = `${name} ${amount} ${pick}`
  const wanted = {
    ...{ type: 'usdc_address', address: accountOf(owner), metadata: METADATA },
    ...(pick % 3 > 0 && { default: pick % 3 === 1 }),
  }
  addresses.add(addressOf(owner))
  const answer = await sandbox.post('/v1/payout_destinations', { ...wanted, holder_name: HOLDER })
  created(merchant, 'sandbox', answer, wanted)
}

async function addListed(merchant: Merchant): Promise<void> {
  const { name, sandbox } = merchant
  const type = 'usdc_address'
  const byName = { type, address: accountOf(`${name} listed`), holder_name: LISTED_NAME }
  const byWallet = { type, address: `eip155:${CHAIN_ID}:${LISTED_WALLET}`, holder_name: HOLDER }
  for (const given of [byName, byWallet])
    created(merchant, 'sandbox', await sandbox.post('/v1/payout_destinations', { ...given, default: true }), {
      ...given,
      isListed: true,
    })
}

export const BANK_ACCOUNT = {
  holder_name: HOLDER,
  account_number: '000123456789',
  routing_number: '110000000',
  country: 'US',
}

async function addBank(merchant: Merchant, { pick }: Drawn): Promise<void> {
  const { live, sandbox } = merchant
  const isListed = pick % 4 === 0
  const bank_account = { ...BANK_ACCOUNT, ...(isListed && { holder_name: LISTED_NAME }) }
  const token = must(await live.post('/v1/tokens', { type: 'bank_account', bank_account }), 201, 'a token')
  const given = { type: 'bank_account', token_id: token.id, holder_name: HOLDER }
  created(merchant, 'live', await live.post('/v1/payout_destinations', { ...given, default: false }), {
    ...{ type: 'bank_account', default: false, isListed },
    bank_account: { last4: '6789', routing_number: '110000000', country: 'US' },
  })
  const again = await live.post('/v1/payout_destinations', given)
  mustRefuse(again, [422, 'validation_failed'], 'a destination with a token that was used')
  const inSandbox = await sandbox.post('/v1/payout_destinations', given)
  mustRefuse(inSandbox, [403, 'live_only'], 'a bank account in the sandbox')
}

/** Addresses that nobody can be paid at, with the beginning of the issue. */
const WRONG: readonly (readonly [address: string, issue: string])[] = [
  [`eip155:1:${addressOf('anyone')}`, 'is on a different chain'],
  [`eip155:${CHAIN_ID}:0x${'0'.repeat(40)}`, 'is the zero address'],
  [`eip155:${CHAIN_ID}:${addressOf('anyone').toLowerCase()}`, 'has a wrong EIP-55 checksum'],
  [`eip155:${CHAIN_ID}:${USDC}`, 'is the USDC contract itself'],
]

async function addWrong({ sandbox }: Merchant): Promise<void> {
  for (const [address, issue] of WRONG) {
    const given = { type: 'usdc_address', address, holder_name: HOLDER }
    const { status, body } = await sandbox.post('/v1/payout_destinations', given)
    const [detail] = body.error?.details ?? []
    mustEqual(
      [status, body.error?.code, detail?.field, detail?.issue.slice(0, issue.length)],
      [422, 'validation_failed', 'address', issue],
      `the answer to a destination that ${issue}`,
    )
  }
}

/** A destination can have so many pairs of metadata. Those that are changed have one already. */
const MOST_PAIRS = 50

/** Those that the merchant can change: payouts of other actions go to the first ones. */
const changeable = ({ destinations, known }: Merchant) =>
  [...destinations].filter(([id]) => id !== known.bank && id !== known.usdc)

/** Changes one destination twice. Afterwards, settlements are paid to the first destination again. */
async function change(merchant: Merchant, { pick, amount }: Drawn): Promise<void> {
  const { destinations, known, isExact } = merchant
  const found = one([...destinations], pick)
  if (!found) return
  const [id, { environment }] = found
  for (const isDefault of (amount / 25) % 2 === 0 ? [true, undefined] : [true, false])
    await changeOne(merchant, { id, environment, isDefault, desk: `${amount}` })
  const pairs = Array.from({ length: MOST_PAIRS }, (_, index) => [`pair_${index}`, 'x'])
  mustRefuse(
    await merchant[environment].send('PATCH', `/v1/payout_destinations/${id}`, {
      metadata: Object.fromEntries(pairs),
    }),
    [422, 'validation_failed'],
    'more metadata than a destination can have',
  )
  if (!isExact || environment === 'live') return
  must(
    await merchant.sandbox.send('PATCH', `/v1/payout_destinations/${known.usdc}`, { default: true }),
    200,
    'a change',
  )
  setDefault(merchant, 'sandbox', known.usdc)
}

interface Change {
  readonly id: string
  readonly environment: Environment
  readonly isDefault: boolean | undefined
  readonly desk: string
}

async function changeOne(merchant: Merchant, { id, environment, isDefault, desk }: Change): Promise<void> {
  const client = merchant[environment]
  const before = must(await client.send('GET', `/v1/payout_destinations/${id}`), 200, 'a destination')
  const patch = {
    metadata: { team: null, desk },
    ...(isDefault !== undefined && { default: isDefault }),
  }
  const answer = await client.send('PATCH', `/v1/payout_destinations/${id}`, patch)
  const isClosed = before.status === 'disabled' || before.status === 'denied'
  if (isDefault && isClosed)
    return mustRefuse(answer, [409, 'invalid_state'], `a default destination that is ${before.status}`)
  if (!merchant.isExact && answer.status === 409) return // the destination was denied meanwhile
  const { updated, ...after } = must(answer, 200, 'a change of a destination')
  if (!merchant.isExact) return
  if (isDefault) setDefault(merchant, environment, id)
  if (isDefault === false && before.default) setDefault(merchant, environment, undefined)
  const { team: _, ...kept } = before.metadata
  const { updated: __, ...wanted } = {
    ...before,
    ...{ metadata: { ...kept, desk }, default: isDefault ?? before.default },
  }
  mustEqual(after, wanted, 'a destination that was changed')
  if (Math.abs(Date.parse(updated) - Date.now()) > MINUTE_MS) fail(`a destination was changed at ${updated}`)
  mustEqual(
    must(await client.send('GET', `/v1/payout_destinations/${id}`), 200, 'a destination'),
    answer.body,
    'a destination after its change',
  )
}

/** Disables a destination. An exact merchant makes it the default before. */
async function disableOne(
  merchant: Merchant,
  id: string,
  environment: Environment,
  amount: number,
): Promise<void> {
  const client = merchant[environment]
  const place = `/v1/payout_destinations/${id}`
  const before = must(await client.send('GET', place), 200, 'a destination')
  const isClosed = before.status === 'disabled' || before.status === 'denied'
  const earlier = merchant.defaults[environment].at(-1)?.id
  const isMeanwhile = merchant.isExact && !isClosed && earlier !== undefined && earlier !== id
  const makeDefault = async (other: string) => {
    must(await client.send('PATCH', `/v1/payout_destinations/${other}`, { default: true }), 200, 'a change')
    setDefault(merchant, environment, other)
  }
  if (isMeanwhile) await makeDefault(id)
  const answer = await client.post(`${place}/disable`, {})
  if (isClosed) mustRefuse(answer, [409, 'invalid_state'], `disabling a destination that is ${before.status}`)
  else if (merchant.isExact) {
    if (isMeanwhile || before.default) setDefault(merchant, environment, undefined)
    const { updated, ...after } = must(answer, 200, 'a destination that was disabled')
    const { updated: _, ...wanted } = { ...before, status: 'disabled', default: false }
    mustEqual(after, wanted, 'a destination that was disabled')
    if (Math.abs(Date.parse(updated) - Date.now()) > MINUTE_MS)
      fail(`a destination was disabled at ${updated}`)
    merchant.changes.push({ environment, type: 'payout_destination.disabled', body: answer.body })
    mustEqual(
      must(await client.send('GET', place), 200, 'a destination'),
      answer.body,
      'a closed destination',
    )
    if (isMeanwhile) await makeDefault(earlier)
  }
  const order = { amount, currency: environment === 'live' ? 'usd' : 'usdc', destination_id: id }
  mustRefuse(
    await client.post('/v1/payouts', order),
    [409, 'invalid_state'],
    'a payout to a closed destination',
  )
}

/** Disables one destination, and an exact merchant another one that is still open. */
async function disable(merchant: Merchant, { pick, amount }: Drawn): Promise<void> {
  const { isExact, known } = merchant
  const found = one(changeable(merchant), pick)
  if (found) await disableOne(merchant, found[0], found[1].environment, amount)
  const others = isExact ? changeable(merchant) : []
  for (const [id, { environment }] of others.filter(([id]) => !Object.values(known).includes(id))) {
    const { body } = await merchant[environment].send('GET', `/v1/payout_destinations/${id}`)
    if (body.status !== 'active' && body.status !== 'inactive') continue
    return disableOne(merchant, id, environment, amount)
  }
}

const NOTHING = 'pod_01jxs19t8v7w6x5y4z3a2b1c0d'

/** Requests that name destinations that do not exist, or do not fit. */
async function misuse(merchant: Merchant, { amount }: Drawn): Promise<void> {
  const { live, sandbox, known } = merchant
  for (const client of [live, sandbox]) {
    const place = `/v1/payout_destinations/${NOTHING}`
    mustRefuse(await client.send('GET', place), [404, 'not_found'], 'an unknown destination')
    mustRefuse(
      await client.send('PATCH', place, {}),
      [404, 'not_found'],
      'a change of an unknown destination',
    )
    mustRefuse(
      await client.post(`${place}/disable`, {}),
      [404, 'not_found'],
      'disabling an unknown destination',
    )
  }
  const issueOf = async (order: object, field: string) => {
    const { status, body } = await live.post('/v1/payouts', { amount, ...order })
    mustEqual(
      [status, body.error?.code, body.error?.details?.[0]?.field],
      [422, 'validation_failed', field],
      `the answer to a payout with another ${field}`,
    )
  }
  await issueOf({ currency: 'usd', destination_id: NOTHING }, 'destination_id')
  await issueOf({ currency: 'usdc', destination_id: known.bank }, 'currency')
  const inSandbox = await sandbox.post('/v1/payouts', { amount, currency: 'usd', destination_id: known.usdc })
  mustRefuse(inSandbox, [403, 'live_only'], 'dollars in the sandbox')
}

/** The service reads a list of sanctions that has the wallet of an active destination. A payout to it does not go out. */
async function beListed(merchant: Merchant, { amount }: Drawn): Promise<void> {
  const { known, sandbox } = merchant
  const order = { amount, currency: 'usdc', destination_id: known.doomed }
  const before = await sandbox.post('/v1/payouts', order)
  if (before.status === 201) {
    merchant.transfers.set(before.body.id, amount)
    if (merchant.isExact) merchant.rejected.add(before.body.id) // others may have been sent already
  }
  merchant.readNewerList()
  mustRefuse(await sandbox.post('/v1/payouts', order), [409, 'invalid_state'], 'a payout to a listed wallet')
}

/** Disables a destination while a payout to it is pending. The payout does not go out. */
async function disablePaid(merchant: Merchant, { amount }: Drawn): Promise<void> {
  const { live, known, payouts, rejected, isExact } = merchant
  const order = { amount, currency: 'usd', destination_id: known.spare }
  const { status, body } = await live.post('/v1/payouts', order)
  if (status === 201) payouts.set(body.id, amount)
  const disabled = await live.post(`/v1/payout_destinations/${known.spare}/disable`, {})
  if (isExact && status === 201 && disabled.status === 200) rejected.add(body.id)
  mustRefuse(
    await live.post('/v1/payouts', order),
    [409, 'invalid_state'],
    'a payout to a disabled destination',
  )
}

export const DESTINATION_ACTIONS: Actions = {
  add_address: { times: 1, act: addAddress },
  add_bank: { times: 1, act: addBank },
  add_listed: { times: 1, act: addListed },
  add_wrong: { times: 1, act: addWrong },
  change_destination: { times: 2, act: change },
  disable_destination: { times: 1, act: disable },
  misuse_destination: { times: 1, act: misuse },
  disable_paid: { times: 1, act: disablePaid },
  be_listed: { times: 1, act: beListed },
}
