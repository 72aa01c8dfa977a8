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

/** Tables to which roles of the environments may only append: they can SELECT and INSERT. */
const APPEND_ONLY = ['audit_log']

/** Append-only tables that a wipe of the sandbox empties, so the sandbox role may also DELETE. */
const WIPED_APPEND_ONLY = ['ledger_transactions', 'ledger_entries', 'ledger_holds', 'ledger_resolutions']

/** Tables whose rows change but are never deleted. */
const LASTING = ['audit_heads']

/** Derives the password of a role from a secret, so that no password is stored or distributed. */
export function rolePassword(secret: string, role: string): string {
  return deriveSecret(secret, `password of role ${role}`)
}

/**
 * Returns the password in the form that PostgreSQL stores (RFC 5803), so that the plaintext never appears in a
 * statement or log.
 */
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
 * Sets options on the role instead of on the database or session: they then also apply to copies of the database and
 * behind poolers. A request waits at most 30 s for a statement, and the server ends a transaction that its node leaves
 * idle for 60 s.
 */
function roleStatements(role: string, schema: Environment | 'control', password: string): string {
  const name = pg.escapeIdentifier(role)
  return `CREATE ROLE ${name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD ${pg.escapeLiteral(scramVerifier(password))};
    ALTER ROLE ${name} SET search_path = ${schema};
    ALTER ROLE ${name} SET timezone = 'UTC';
    ALTER ROLE ${name} SET datestyle = 'ISO';
    ALTER ROLE ${name} SET jit = off;
    ${planning(name)};
    ALTER ROLE ${name} SET statement_timeout = '30s';
    ALTER ROLE ${name} SET idle_in_transaction_session_timeout = '60s'`
}

/**
 * Plans must work for large tenants, regardless of statistics. Sequential scans and bitmap scans are off, so that
 * statements read only what an index selects. Parallel workers are off, because starting them takes longer than reading
 * a page of a list and takes workers from other statements.
 */
const PLANNING = { enable_seqscan: 'off', enable_bitmapscan: 'off', max_parallel_workers_per_gather: '0' }

function planning(name: string): string {
  return Object.entries(PLANNING)
    .map(([setting, value]) => `ALTER ROLE ${name} SET ${setting} = ${value}`)
    .join('; ')
}

/**
 * Adds settings that a role created by an earlier version lacks. Reads first, because ALTER ROLE blocks concurrent
 * changes of the role.
 */
export async function completeRole(admin: pg.Client, role: string): Promise<void> {
  const { rowCount } = await admin.query('SELECT 1 FROM pg_roles WHERE rolname = $1 AND rolconfig @> $2', [
    role,
    Object.entries(PLANNING).map(([setting, value]) => `${setting}=${value}`),
  ])
  if (rowCount) return
  await admin.query(planning(pg.escapeIdentifier(role))).catch((error: unknown) => {
    // A different user of the server created the role. Only counts need these settings: other reads are written so that
    // they have a single plan.
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error
  })
}

/**
 * Creates the role. Returns false if another process created it first. Roles belong to the server, not to a database.
 */
export async function createRole(
  admin: pg.Client,
  role: string,
  schema: Environment | 'control',
  secret: string,
): Promise<boolean> {
  try {
    await admin.query(roleStatements(role, schema, rolePassword(secret, role)))
    return true
  } catch (error) {
    const code = codeOf(error)
    if (code === DUPLICATE_OBJECT || code === UNIQUE_VIOLATION) return false
    if (code !== INSUFFICIENT_PRIVILEGE) throw error
    throw new Error(
      `the database user may not create the role ${role}: grant it CREATEROLE (ALTER ROLE … CREATEROLE)`,
      { cause: error },
    )
  }
}

/** Whether the role has the password derived from the pepper. */
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

/**
 * Returns the connection options for the same server and database with a different role.
 * @param secret that the password of the role is derived from: the pepper for the roles of the environments.
 */
export function asRole(connection: pg.ClientConfig, role: string, secret: string): pg.ClientConfig {
  const password = rolePassword(secret, role)
  if (connection.connectionString === undefined) return { ...connection, user: role, password }
  const separator = connection.connectionString.includes('?') ? '&' : '?'
  const credentials = new URLSearchParams({ user: role, password })
  // Query parameters override credentials before the host.
  return { ...connection, connectionString: `${connection.connectionString}${separator}${credentials}` }
}

/**
 * Finds or creates the login role of each environment, `svc_sandbox` and `svc_live`. If a deployment with a different
 * pepper already uses these names on the server, adds a suffix derived from the pepper.
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
      `no login role for ${environment}: svc_${environment} and svc_${environment}_${own} exist with passwords that SVC_PEPPER does not derive: drop one of them or set the pepper that created them`,
    )
  }
  return { sandbox: await choose('sandbox'), live: await choose('live') }
}

/** Returns the SQL that grants a role access to the rows of its environment only. */
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
    DO $protect$ BEGIN ${protect.join('\n')} ${cardNumbers(environment, name)} END $protect$`
}

/** Returns the SQL, one statement, that takes sealed card numbers from the role, as `grants` does in a new database. */
export function closeCardNumbers(environment: Environment, role: string): string {
  return `DO $close$ BEGIN ${cardNumbers(environment, pg.escapeIdentifier(role))} END $close$`
}

/**
 * The role of an environment adds card numbers, and can do nothing else with them. The directory tells it only whether a
 * number is free. There are no grants of columns, because Citus before version 13.1 refuses them.
 */
function cardNumbers(environment: Environment, name: string): string {
  return `IF to_regclass('control.card_room') IS NOT NULL THEN
      GRANT USAGE ON SCHEMA control TO ${name};
      GRANT INSERT ON control.card_directory_${environment} TO ${name};
      IF to_regclass('control.two_phase') IS NOT NULL THEN GRANT DELETE ON control.two_phase TO ${name}; END IF;
      IF (SELECT closed FROM control.card_room) THEN
        REVOKE SELECT, UPDATE, DELETE ON ${environment}.card_numbers FROM ${name};
      END IF;
    END IF;`
}
