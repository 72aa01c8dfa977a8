import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from './ports.ts'
import { until } from './programs.ts'

/** A real PgBouncer in transaction mode in front of one database. */
export interface TestPooler {
  /** URL of the database through the pooler, with the owner's credentials. */
  readonly url: string
  stop(): Promise<void>
}

/**
 * Starts a pooler that uses a different server connection for each transaction of a session.
 *
 * @param databaseUrl URL with the owner's credentials. @param roles further users with their passwords.
 */
export async function startPooler(
  databaseUrl: string,
  roles: Readonly<Record<string, string>>,
): Promise<TestPooler> {
  const target = new URL(databaseUrl)
  const [owner, password] = [decodeURIComponent(target.username), decodeURIComponent(target.password)]
  const port = await freePort()
  const directory = mkdtempSync(join(tmpdir(), 'svc-pooler-'))
  chmodSync(directory, 0o755) // readable for the pooler's user, because PgBouncer does not run as root
  const users = Object.entries({ [owner]: password, ...roles })
  writeFileSync(join(directory, 'users.txt'), users.map(([name, word]) => `"${name}" "${word}"\n`).join(''))
  writeFileSync(
    join(directory, 'pgbouncer.ini'),
    `[databases]
* = host=${target.hostname} port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(directory, 'users.txt')}
pool_mode = transaction
server_round_robin = 1
default_pool_size = 6
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
`,
  )
  const words = [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), join(directory, 'pgbouncer.ini')]
  const child = spawn('pgbouncer', words, { stdio: 'ignore' })
  target.hostname = '127.0.0.1'
  target.port = String(port)
  const answers = async () => {
    const client = new pg.Client({ connectionString: target.href })
    try {
      await client.connect()
      return true
    } catch {
      return false
    } finally {
      await client.end()
    }
  }
  await until('the pooler to answer', answers)
  return {
    url: target.href,
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      rmSync(directory, { recursive: true })
    },
  }
}
