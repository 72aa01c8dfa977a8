/** Triggers each type of event by calling the API. */
import type { Client, WebhookEvent } from '../../generated/client/src/2026-05-19/index.ts'
import { controlRecipes, type FactorAsker } from './control-recipes.ts'
import type { LiveSession } from './live-session.ts'
import { clearing, moneyRecipes } from './money-recipes.ts'
import { payoutRecipes } from './payout-recipes.ts'
import { sandboxRecipes } from './sandbox-recipes.ts'
import { settlementRecipes } from './settlement-recipes.ts'
import { MisuseError } from './svc-session.ts'
import { waitFor } from './wait-for.ts'
import { webhookRecipes } from './webhook-recipes.ts'

export interface RecipeOptions extends FactorAsker {
  /** The webhook endpoint to use. */
  readonly endpoint?: string | undefined
  /**
   * Opens the live environment.
   * @throws MisuseError if no live key was given.
   */
  openLive(): LiveSession
}

/** Identifiers of the created objects, by type. */
export type MadeIds = Readonly<Record<string, string>>

type Recipe = (client: Client, options: RecipeOptions) => Promise<MadeIds>

export const RECIPES = {
  'pass_template.created': (client) => makeTemplate(client),
  'pass_template.updated': async (client) => {
    const made = await makeTemplate(client)
    await client.updatePassTemplate({ path: idOf(made), body: { name: 'Coffee club of the year' } })
    return made
  },
  'pass_template.archived': async (client) => {
    const made = await makeTemplate(client)
    await client.archivePassTemplate({ path: idOf(made) })
    return made
  },
  'pass.created': (client) => makePass(client),
  'pass.updated': async (client) => {
    const made = await makePass(client)
    await client.updatePass({ path: made, body: { fields: { points: '10' } } })
    return made
  },
  'pass.installed': makeInstalledPass,
  'pass.uninstalled': async (client) => {
    const made = await makeInstalledPass(client)
    await client.simulateUninstall({ body: { pass_id: made.pass_id, platform: 'apple' } })
    return made
  },
  'pass.scanned': async (client) => {
    const made = await makePass(client)
    const scan = await client.simulateScan({ body: { pass_id: made.pass_id, mode: 'verify' } })
    return { ...made, scan_id: scan.id }
  },
  'pass.redeemed': async (client) => {
    const made = await makePass(client, 'coupon')
    const scan = await client.simulateScan({ body: { pass_id: made.pass_id, mode: 'redeem' } })
    return { ...made, scan_id: scan.id }
  },
  'pass.revoked': makeRevokedPass,
  'pass.archived': async (client) => {
    const made = await makeRevokedPass(client)
    await client.archivePass({ path: made })
    return made
  },
  ...moneyRecipes((client) => makeCard(client)),
  ...settlementRecipes(clearing(makeCard)),
  ...payoutRecipes(settlementRecipes(clearing(makeCard))['settlement.settled']),
  ...controlRecipes((client) => makeCard(client)),
  'cardholder.created': (client) => makeCardholder(client),
  'cardholder.updated': async (client) => {
    const made = await makeCardholder(client)
    await client.updateCardholder({ path: made, body: { status: 'inactive' } })
    return made
  },
  'card.created': (client) => makeCard(client),
  'card.updated': async (client) => {
    const made = await makeCard(client)
    await client.updateCard({ path: made, body: { metadata: { ...METADATA, changed: 'yes' } } })
    return made
  },
  'card.canceled': async (client) => {
    const made = await makeCard(client)
    await client.cancelCard({ path: made })
    return made
  },
  'card.shipped': makeShippedCard,
  'card.delivered': async (client) => {
    const made = await makeShippedCard(client)
    await client.simulateShipping({ body: { card_id: made.card_id, status: 'delivered' } })
    return made
  },
  'card.wallet_token.created': makeWalletToken,
  'card.wallet_token.updated': async (client) => {
    const made = await makeWalletToken(client)
    await client.updateWalletToken({ path: made, body: { status: 'active' } })
    return made
  },
  'cardholder.sanctions.alert': makeMatch,
  'cardholder.sanctions.resolved': async (client) => {
    const made = await makeMatch(client)
    await client.resolveSanctionsAlert({
      path: made,
      body: { resolution: 'false_positive', note: 'A different person with the same name.' },
    })
    return made
  },
  // Occurs in live, where the copied template remains.
  'promotion.created': async (client, { openLive }) => {
    const live = openLive()
    const made = await makeTemplate(client)
    const { id, created } = await live.promote({
      resource_type: 'pass_template',
      sandbox_ids: [made.pass_template_id],
    })
    return { ...made, promotion_id: id, live_pass_template_id: created[0]!.live_id }
  },
  'webhook_endpoint.test': async (client, { endpoint }) => {
    const whe_id = endpoint ?? (await findOnlyEndpoint(client))
    const event = await client.testWebhookEndpoint({ path: { whe_id } })
    return { webhook_endpoint_id: whe_id, event_id: event.id }
  },
  ...webhookRecipes,
  ...sandboxRecipes,
} satisfies Partial<Record<WebhookEvent['type'], Recipe>>

/** Marks the created objects, so that the merchant can recognize them. */
const METADATA = { made_by: 'svc trigger' }

type TriggeredKind = 'loyalty' | 'coupon'

async function makeTemplate(
  client: Client,
  kind: TriggeredKind = 'loyalty',
): Promise<{ pass_template_id: string }> {
  const template = await client.createPassTemplate({
    body: {
      name: 'Coffee club',
      kind,
      brand: { background_color: '#112233', foreground_color: '#ffffff' },
      fields: [{ key: 'points', label: 'Points', value: '0' }],
      metadata: METADATA,
    },
  })
  return { pass_template_id: template.id }
}

async function makePass(
  client: Client,
  kind?: TriggeredKind,
): Promise<{ pass_template_id: string; pass_id: string }> {
  const made = await makeTemplate(client, kind)
  const pass = await client.createPass({
    body: { template_id: made.pass_template_id, holder: { name: 'Ada Moreau' }, metadata: METADATA },
  })
  return { ...made, pass_id: pass.id }
}

async function makeInstalledPass(client: Client) {
  const made = await makePass(client)
  await client.simulateInstall({ body: { pass_id: made.pass_id, platform: 'apple' } })
  return made
}

async function makeRevokedPass(client: Client) {
  const made = await makePass(client)
  await client.revokePass({ path: made })
  return made
}

async function makeCardholder(client: Client): Promise<{ cardholder_id: string }> {
  const body = { type: 'individual', name: 'Ada Moreau', metadata: METADATA } as const
  const { id } = await client.createCardholder({ body })
  return { cardholder_id: id }
}

type CardOrder = Omit<Parameters<Client['createCard']>[0]['body'], 'cardholder_id'>

async function makeCard(
  client: Client,
  order: CardOrder = { type: 'virtual' },
): Promise<{ cardholder_id: string; card_id: string }> {
  const made = await makeCardholder(client)
  const { id } = await client.createCard({ body: { ...made, ...order, metadata: METADATA } })
  return { ...made, card_id: id }
}

async function makeShippedCard(client: Client) {
  const address = { line1: '1 Quay', city: 'Oakland', state: 'CA', postal_code: '94607', country: 'US' }
  const made = await makeCard(client, { type: 'physical', shipping: { address, service: 'express' } })
  await client.simulateShipping({ body: { card_id: made.card_id, status: 'shipped' } })
  return made
}

/** Creates a payload and waits for the wallet token that a simulated phone creates from it. */
async function makeWalletToken(client: Client) {
  const made = await makeCard(client)
  const device = { client_device_id: 'svc trigger', client_wallet_account_id: 'svc trigger' }
  const payload = await client.createProvisioningPayload({
    path: made,
    body: { wallet: 'google_pay', ...device },
  })
  const token = await waitFor('a simulated phone to use the payload', async () => {
    const { data } = await client.listWalletTokens({ query: { card_id: made.card_id } })
    return data[0]
  })
  return { ...made, provisioning_payload_id: payload.id, wallet_token_id: token.id }
}

async function makeMatch(client: Client) {
  const made = await makeCardholder(client)
  const { id } = await client.simulateSanctionsMatch({ body: made })
  return { ...made, sanctions_alert_id: id }
}

const idOf = ({ pass_template_id }: { pass_template_id: string }) => ({ template_id: pass_template_id })

/**
 * Returns the only webhook endpoint.
 * @throws MisuseError if there are several.
 */
async function findOnlyEndpoint(client: Client): Promise<string> {
  const { data, has_more } = await client.listWebhookEndpoints({ query: { limit: 10 } })
  const [endpoint] = data
  if (!endpoint) throw new Error('there is no webhook endpoint: create one with POST /v1/webhook-endpoints')
  if (data.length === 1) return endpoint.id
  const lines = data.map(({ id, url }) => `\n  ${id}  ${url}`).join('')
  throw new MisuseError(
    `there are several webhook endpoints: choose one with --endpoint:${lines}${has_more ? '\n  …' : ''}`,
  )
}
