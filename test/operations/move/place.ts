/** An installation for the proof of moves: a service with its own database, and the operator's command. */
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { findCluster } from '../../../runtime/database/embedded/cluster.ts'
import { findPostmaster } from '../../../runtime/database/embedded/postmaster.ts'
import { connectionTo } from '../../../runtime/database/embedded/server.ts'
import { type Program, runAdmin, startService } from '../../support/programs.ts'

export interface Place {
  readonly name: string
  readonly dataDir: string
  /** File with its settings, as `--to` takes it. */
  readonly file: string
  readonly env: Readonly<Record<string, string>>
  readonly url: string
  /** The line that the service prints when it is ready. */
  readonly ready: Readonly<Record<string, unknown>>
  readonly service: Program
  /** Runs the command of the operator. Throws if it fails. */
  admin(...words: string[]): Promise<Record<string, unknown>>
  /** Reads rows as the owner of the database. */
  read<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
}

function embedded(dataDir: string): pg.ClientConfig {
  const cluster = findCluster(dataDir)!
  return connectionTo(cluster, findPostmaster(cluster.data)!)
}

/**
 * Starts an installation.
 *
 * @param wallet folder with the certificates of a different one, because passes name their certificate.
 */
export async function openPlace(
  root: string,
  name: string,
  given: Readonly<Record<string, string>>,
  wallet?: string,
): Promise<Place> {
  const dataDir = join(root, name)
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  if (wallet !== undefined && existsSync(wallet)) cpSync(wallet, join(dataDir, 'wallet'), { recursive: true })
  const env = { DATA_DIR: dataDir, SVC_WEBHOOK_ALLOW: '127.0.0.0/8', LOG_LEVEL: 'error', ...given }
  const file = join(root, `${name}.env`)
  writeFileSync(
    file,
    Object.entries(env)
      .map(([key, value]) => `${key}=${value}\n`)
      .join(''),
  )
  const service = startService(env, ['--json'])
  const ready = await service.ready()
  return {
    name,
    dataDir,
    file,
    env,
    url: String(ready.sandbox_base_url),
    ready,
    service,
    async admin(...words) {
      const { code, stdout, stderr } = await runAdmin(env, ...words, '--json')
      if (code !== 0) throw new Error(`admin ${words.join(' ')} ended with ${code}: ${stderr}`)
      if (process.env.VERBOSE) process.stderr.write(stderr)
      return JSON.parse(stdout)
    },
    async read<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) {
      const client = new pg.Client(given.DATABASE_URL ?? embedded(dataDir))
      await client.connect()
      try {
        return (await client.query<Row>(text, [...values])).rows
      } finally {
        await client.end()
      }
    },
  }
}
