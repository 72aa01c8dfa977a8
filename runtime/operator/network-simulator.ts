/** Sets the network simulator up as the processor of a development service: certificate, signing key and cards. */

import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '../../generated/client/src/2026-05-19/index.ts'
import { SIMULATOR, SIMULATOR_ORGANIZATION } from '../cards/network-simulator/identity.ts'
import {
  addCertificate,
  createSigningKey,
  listSigningKeys,
  nameProcessor,
  showProcessor,
} from '../cards/processor/processors.ts'
import { networkTls } from '../cards/processor/server-certificate.ts'
import type { OpenDatabase } from '../database/open/open-database.ts'
import { post } from '../money/ledger/post.ts'
import { writeCertificate } from '../passes/wallets/render/apple/certificate.ts'
import { makeOnce } from '../passes/wallets/render/development-file.ts'
import type { Environment } from '../platform/environment.ts'
import { newId } from '../platform/ids.ts'
import { NETWORK_PORT, type Settings } from '../platform/settings.ts'
import { readAddresses } from '../tenants/addresses/queries.ts'
import { ControlError, type Operator } from '../tenants/admin/change.ts'
import { createKey, revokeKey } from '../tenants/admin/keys.ts'
import { findDemo } from './demo.ts'
import { findSpaces } from './ledger.ts'

const DAY_MS = 86_400_000
const CARDS = 3
/** Cents that the demo tenant can spend at least. */
const FUNDS = 100_000_000

/** What the simulator needs in order to speak to the service. */
export interface SimulatorAccess {
  /** PEM: the client's certificate and key, and the authority of the listener. */
  readonly cert: string
  readonly key: string
  readonly ca: string
  readonly signingKey: string
  readonly url: string
}

/**
 * Makes the simulator the processor of an environment. Its certificate and signing key stay below `DATA_DIR`, for the next
 * run.
 * @throws ControlError `conflict` if the environment has another processor, `invalid` in production, or in live without
 * SVC_NETWORK_SIMULATOR.
 */
export async function setUpAccess(
  operator: Operator,
  settings: Pick<Settings, 'production' | 'networkSimulator' | 'networkPort' | 'networkTls' | 'dataDir'>,
  environment: Environment,
): Promise<SimulatorAccess> {
  if (settings.production) throw new ControlError('invalid', '--dev is not allowed with NODE_ENV=production')
  if (environment === 'live' && !settings.networkSimulator)
    throw new ControlError(
      'invalid',
      'live takes no simulated messages: set SVC_NETWORK_SIMULATOR=1 for this command and for the service, or use --env sandbox',
    )
  const { name } = await showProcessor(operator, environment)
  if (name !== null && name !== SIMULATOR)
    throw new ControlError(
      'conflict',
      `${environment} has the processor "${name}": use --env with the other environment`,
    )
  await nameProcessor(operator, environment, SIMULATOR)
  const folder = join(settings.dataDir, 'network')
  const bundle = makeOnce(join(folder, `simulator-${environment}.pem`), () =>
    makeBundle(operator.clock.machine()),
  )
  await pinCertificate(operator, environment, bundle)
  const signingKey = await ensureSigningKey(
    operator,
    environment,
    join(folder, `simulator-${environment}.key`),
  )
  const ca = readFileSync(networkTls(settings, operator.clock.machine()).cert, 'utf8')
  return {
    cert: bundle,
    key: bundle,
    ca,
    signingKey,
    url: `https://127.0.0.1:${settings.networkPort ?? NETWORK_PORT}`,
  }
}

function makeBundle(now: number): string {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const subject = { CN: SIMULATOR, O: SIMULATOR_ORGANIZATION }
  const life = { from: now - DAY_MS, to: now + 3650 * DAY_MS }
  const issuer = { subject, key: privateKey }
  const certificate = writeCertificate({ ...life, subject, publicKey, issuer, isAuthority: false })
  return `${certificate}${privateKey.export({ type: 'pkcs8', format: 'pem' })}`
}

async function pinCertificate(operator: Operator, environment: Environment, pem: string): Promise<void> {
  try {
    await addCertificate(operator, environment, pem)
  } catch (error) {
    // An earlier run has added it.
    if (!(error instanceof ControlError && error.kind === 'conflict')) throw error
  }
}

/** Returns the signing key of an earlier run if it is active, or creates one. */
async function ensureSigningKey(operator: Operator, environment: Environment, file: string): Promise<string> {
  const kept = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  const active = (await listSigningKeys(operator.control, environment)).filter(
    ({ status }) => status === 'active',
  )
  if (kept !== undefined && active.some(({ hint }) => kept.endsWith(hint))) return kept
  const { secret } = await createSigningKey(operator, environment)
  writeFileSync(file, secret, { mode: 0o600 })
  return secret
}

/** The demo tenant's API. */
export interface SimulatorTenant {
  readonly client: Client
  /** Numbers of virtual cards that can pay. */
  readonly cards: readonly [string, ...string[]]
  /** `tenant_id` of its rows. */
  readonly space: string
  /** Revokes the key that this run used. */
  end(): Promise<void>
}

/**
 * Finds the demo tenant's active virtual cards, and issues some if there are none. Also provides test money, in live too.
 * @throws ControlError `not_found` if there is no demo tenant, or if the service does not run.
 */
export async function openDemoTenant(
  operator: Operator,
  database: Pick<OpenDatabase, Environment>,
  environment: Environment,
): Promise<SimulatorTenant> {
  const demo = await findDemo(operator)
  const baseUrl = (await readAddresses(operator.control))[environment]?.base_url
  if (!demo || baseUrl === undefined)
    throw new ControlError(
      'not_found',
      'there is no demo tenant: start the service with "npm start -- --demo" first',
    )
  const key = await createKey(operator, { tenantId: demo.tenantId, environment, scope: 'admin' })
  const { [environment]: space } = await findSpaces(operator.control, demo.tenantId)
  const end = async () => void (await revokeKey(operator, key.id))
  try {
    const client = createClient({ baseUrl, apiKey: key.secret })
    if ((await client.getBalance()).available < FUNDS)
      await fund(operator, database, environment, demo.tenantId, space)
    return { client, cards: await findNumbers(client), space, end }
  } catch (error) {
    await end()
    throw error
  }
}

async function fund(
  { clock }: Operator,
  database: Pick<OpenDatabase, Environment>,
  environment: Environment,
  tenantId: string,
  space: string,
): Promise<void> {
  const now = clock.service(environment)
  const transfer = { from: 'bank', to: 'program_funds', amount: FUNDS } as const
  await database[environment]
    .forTenant(tenantId)
    .transaction((db) => post(db, space, newId('len', now), { transfer }, now))
}

async function findNumbers(client: Client): Promise<readonly [string, ...string[]]> {
  const found = (await client.listCards({ query: { status: 'active', limit: 100 } })).data
  const ids = found.filter(({ type, frozen }) => type === 'virtual' && !frozen).map(({ id }) => id)
  if (ids.length === 0) {
    const cardholder = await client.createCardholder({ body: { name: 'Ada Moreau' } })
    for (let n = 0; n < CARDS; n += 1)
      ids.push((await client.createCard({ body: { cardholder_id: cardholder.id, type: 'virtual' } })).id)
  }
  const numbers: string[] = []
  for (const card_id of ids.slice(0, CARDS))
    numbers.push((await client.getCardDetails({ path: { card_id } })).number)
  const [first, ...others] = numbers
  if (first === undefined) throw new ControlError('not_found', 'the demo tenant has no virtual card')
  return [first, ...others]
}
