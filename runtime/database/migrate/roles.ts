import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'
import type { Environment } from '../../platform/environment.ts'
import { deriveSecret } from '../../platform/secrets.ts'
import {
  codeOf,
  DUPLICATE_OBJECT,
  INSUFFICIENT_PRIVILEGE,
  INVALID_AUTHORIZATION,
  INVALID_PASSWORD,
  UNIQUE_VIOLATION,
} from '../errors.ts'
import { clientConfig } from '../pool/connection.ts'

/** Name of the login role of each environment. */
export type Roles = Readonly<Record<Environment, string>>

/** Tables that only ever grow: the environments' roles may read and insert there, nothing else. */
const APPEND_ONLY = ['audit_log']

/** The same, but that a wipe of the sandbox empties them: only in live is nothing deleted. */
const WIPED_APPEND_ONLY = ['ledger_transactions', 'ledger_entries', 'ledger_holds', 'ledger_resolutions']

/** Tables whose rows change but stay. */
const LASTING = ['audit_heads']

/** The role's password: nothing has to be stored or handed on but the pepper. */
export function rolePassword(pepper: string, role: string): string {
  return deriveSecret(pepper, `password of role ${role}`)
}

/** A password as PostgreSQL stores it (RFC 5803), so that the plaintext never stands in a statement or a log. */
function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const iterations = 4096
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const clientKey = createHmac('sha256', salted).update('Client Key').digest()
  const storedKey = createHash('sha256').update(clientKey).digest('base64')
  const serverKey = createHmac('sha256', salted).update('Server Key').digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}

/**
 * Settings of the role rather than of a database or session: they survive copies of the database and poolers.
 * A request never waits longer than 30 s for a statement, and nothing holds locks while a node has gone away.
 */
function roleStatements(role: string, environment: Environment, password: string): string {
  const name = pg.escapeIdentifier(role)
  return `CREATE ROLE ${name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD ${pg.escapeLiteral(scramVerifier(password))};
    ALTER ROLE ${name} SET search_path = ${environment};
    ALTER ROLE ${name} SET timezone = 'UTC';
    ALTER ROLE ${name} SET datestyle = 'ISO';
    ALTER ROLE ${name} SET jit = off;
    ${planning(name)};
    ALTER ROLE ${name} SET statement_timeout = '30s';
    ALTER ROLE ${name} SET idle_in_transaction_session_timeout = '60s'`
}

/**
 * Whatever the statistics say of a tenant, it may be the large one: nothing is read but what an index leads to, and no
 * statement starts processes of its own, which takes longer than a page of a list and takes them from others.
 */
const PLANNING = { enable_seqscan: 'off', enable_bitmapscan: 'off', max_parallel_workers_per_gather: '0' }

function planning(name: string): string {
  return Object.entries(PLANNING)
    .map(([setting, value]) => `ALTER ROLE ${name} SET ${setting} = ${value}`)
    .join('; ')
}

/** Gives a role that an earlier version made what it lacks. Looks first: who alters a role gets in the way of others. */
export async function completeRole(admin: pg.Client, role: string): Promise<void> {
  const { rowCount } = await admin.query('SELECT 1 FROM pg_roles WHERE rolname = $1 AND rolconfig @> $2', [
    role,
    Object.entries(PLANNING).map(([setting, value]) => `${setting}=${value}`),
  ])
  if (rowCount) return
  await admin.query(planning(pg.escapeIdentifier(role))).catch((error: unknown) => {
    // Another user of the server has made it. Counts alone need this: what else is read is shaped to have one plan.
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error
  })
}

/** Makes the role; false when another process made it first. Roles belong to the whole server, not to a database. */
async function createRole(
  admin: pg.Client,
  role: string,
  environment: Environment,
  pepper: string,
): Promise<boolean> {
  try {
    await admin.query(roleStatements(role, environment, rolePassword(pepper, role)))
    return true
  } catch (error) {
    const code = codeOf(error)
    if (code === DUPLICATE_OBJECT || code === UNIQUE_VIOLATION) return false
    if (code !== INSUFFICIENT_PRIVILEGE) throw error
    throw new Error(
      `the database's user may not create the role ${role}: give it CREATEROLE (ALTER ROLE … CREATEROLE)`,
      { cause: error },
    )
  }
}

/** Whether the password that follows from the pepper is the role's. */
async function canSignIn(connection: pg.ClientConfig, role: string, pepper: string): Promise<boolean> {
  const client = new pg.Client(clientConfig(asRole(connection, role, pepper), 'svc migrate'))
  try {
    await client.connect()
    return true
  } catch (error) {
    const code = codeOf(error)
    if (code === INVALID_PASSWORD || code === INVALID_AUTHORIZATION) return false
    throw error
  } finally {
    await client.end()
  }
}

/** The same server and database, as another role. */
export function asRole(connection: pg.ClientConfig, role: string, pepper: string): pg.ClientConfig {
  const password = rolePassword(pepper, role)
  if (connection.connectionString === undefined) return { ...connection, user: role, password }
  const separator = connection.connectionString.includes('?') ? '&' : '?'
  const credentials = new URLSearchParams({ user: role, password })
  // Parameters of the query win over those before the host.
  return { ...connection, connectionString: `${connection.connectionString}${separator}${credentials}` }
}

/**
 * Finds or makes the login role of each environment: `svc_sandbox` and `svc_live`. Where another deployment on the same
 * server, with another pepper, has those, this one takes names of its own.
 */
export async function ensureRoles(
  admin: pg.Client,
  connection: pg.ClientConfig,
  pepper: string,
): Promise<Roles> {
  const own = deriveSecret(pepper, 'role names').slice(0, 8)
  const choose = async (environment: Environment): Promise<string> => {
    for (const role of [`svc_${environment}`, `svc_${environment}_${own}`]) {
      const { rowCount } = await admin.query('SELECT 1 FROM pg_roles WHERE rolname = $1', [role])
      if (!rowCount && (await createRole(admin, role, environment, pepper))) return role
      if (await canSignIn(connection, role, pepper)) return role
    }
    throw new Error(
      `no login role for ${environment}: svc_${environment} and svc_${environment}_${own} exist with other passwords`,
    )
  }
  return { sandbox: await choose('sandbox'), live: await choose('live') }
}

/** All that a role may do: rows of its own environment. */
export function grants(environment: Environment, role: string): string {
  const name = pg.escapeIdentifier(role)
  const revoke = (table: string, rights: string) =>
    `IF to_regclass('${environment}.${table}') IS NOT NULL THEN
        REVOKE ${rights} ON ${environment}.${table} FROM ${name};
      END IF;`
  const protect = [
    ...APPEND_ONLY.map((table) => revoke(table, 'UPDATE, DELETE, TRUNCATE')),
    ...WIPED_APPEND_ONLY.map((table) =>
      revoke(table, environment === 'sandbox' ? 'UPDATE, TRUNCATE' : 'UPDATE, DELETE, TRUNCATE'),
    ),
    ...LASTING.map((table) => revoke(table, 'DELETE, TRUNCATE')),
  ]
  return `GRANT USAGE ON SCHEMA ${environment} TO ${name};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${environment} TO ${name};
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${environment} TO ${name};
    DO $protect$ BEGIN ${protect.join('\n')} END $protect$`
}
