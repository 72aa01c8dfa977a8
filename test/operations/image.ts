/**
 * `npm run prove:image`: runs the instructions of `deploy/Dockerfile` in a folder, starts the service as the image would
 * (not root, read-only file system, secrets in files) against a real PostgreSQL, and issues a pass. Requires Linux and
 * root, for mounts; it requires no container daemon.
 *
 * Options: --ref REF (commit to build; by default HEAD).
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { git } from '../../deploy/release/service-tar.ts'
import { BENCH_PEPPER, startDatabase } from '../bench/bench-database.ts'
import { withScratch } from '../bench/scratch.ts'
import { freePort } from '../support/ports.ts'
import { endPrograms, isAlive, ROOT, startProgram } from '../support/programs.ts'
import { readDockerfile } from './dockerfile.ts'
import { buildStage, enter, mountSecret, type Stage } from './stage.ts'
import { create, makeTemplate } from './traffic.ts'

const { ref } = parseArgs({ options: { ref: { type: 'string', default: 'HEAD' } } }).values

const commit = git('rev-parse', ref).toString().trim()

function require(condition: boolean, problem: string): void {
  if (!condition) throw new Error(problem)
}

const npmSetting = (name: string) =>
  execFileSync('npm', ['config', 'get', name], { cwd: ROOT, encoding: 'utf8' }).trim()

/** How npm on this machine reaches its registry. A daemon would use its own network. */
function npmSettings(): Record<string, string> {
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy']
  const passed = ['NODE_EXTRA_CA_CERTS', ...proxies].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return {
    ...Object.fromEntries(passed),
    npm_config_registry: npmSetting('registry'),
    npm_config_cache: '/tmp/npm',
    npm_config_prefer_offline: 'true',
  }
}

function build(directory: string): Stage {
  const context = join(directory, 'context')
  mkdirSync(context)
  execFileSync('tar', ['-x', '-C', context], { input: git('archive', commit) })
  const built = new Map<string, Stage>()
  const parts = {
    buildArguments: { COMMIT: commit },
    env: npmSettings(),
    cache: npmSetting('cache'),
  }
  let last: Stage | undefined
  for (const stage of readDockerfile(readFileSync(join(context, 'deploy/Dockerfile'), 'utf8'))) {
    const folder = join(directory, `stage-${stage.name}`)
    last = buildStage(stage, folder, context, built, parts)
    built.set(stage.name, last)
    console.info(`stage ${stage.name}: built`)
  }
  return last!
}

await withScratch(async (scratch) => {
  const { directory, atEnd } = scratch
  require(process.getuid?.() === 0, 'prove:image mounts folders: run it as root')
  const databaseUrl = await startDatabase(scratch)
  const image = build(directory)
  atEnd(endPrograms)

  const app = join(image.folder, 'app')
  const size = execFileSync('du', ['-sm', app], { encoding: 'utf8' }).split('\t')[0]
  for (const absent of ['node_modules/vitest', 'node_modules/@biomejs', 'test/api', '.git'])
    require(!existsSync(join(app, absent)), `the image contains ${absent}`)
  console.info(`files: ${size} MB, no development packages, tests or history`)

  const port = await freePort()
  const env = {
    DATABASE_URL_FILE: mountSecret(image, 'database-url', databaseUrl),
    SVC_PEPPER_FILE: mountSecret(image, 'pepper', BENCH_PEPPER),
    SANDBOX_PORT: String(port),
    LIVE_PORT: '0',
    HOST: '127.0.0.1',
    SANDBOX_BASE_URL: `http://127.0.0.1:${port}`,
    LIVE_BASE_URL: 'http://live.test',
    CONSOLE_BASE_URL: 'http://console.test',
  }
  const run = (words: readonly string[]) => {
    const inside = enter(image, words, { readOnly: true, env })
    return startProgram(inside.command, inside.words, inside.env)
  }
  const service = run([...image.entrypoint, ...image.command, '--demo'])
  const { keys, tenant_id } = (await service.ready()) as {
    keys: Record<string, string>
    tenant_id: string
  }
  // The service is process 1 of its namespace, as in a container. The end of `unshare` does not end it, because it has a different user.
  const inner = Number(readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8'))
  atEnd(() => isAlive(inner) && process.kill(inner, 'SIGKILL'))
  console.info(`started: ${[...image.entrypoint, ...image.command].join(' ')}, user ${image.user}`)

  const shown = await run([
    'sh',
    '-c',
    'id -u; touch /app/x /usr/x; touch /var/lib/dateline/x && echo volume',
  ]).ended
  require(shown.stdout === '10001\nvolume\n', `unexpected user or volume: ${shown.stdout}`)
  require((shown.stderr.match(/Read-only file system/g) ?? []).length === 2, shown.stderr)
  console.info('file system: read-only, except /tmp and the volume')

  const health = await run(image.health).ended
  require(health.code === 0, `the health check fails: ${health.stderr}`)
  const wrong = await run([...image.health, String(await freePort())]).ended
  require(wrong.code === 1, 'the health check does not fail for a closed port')
  console.info('health check: 0 for /readyz, 1 for a closed port')

  const secret = keys.sandbox_secret!
  const template = await makeTemplate(env.SANDBOX_BASE_URL, secret)
  const pass = await create(env.SANDBOX_BASE_URL, secret, '/v1/passes', { template_id: template })
  console.info(`issued: ${pass}`)

  const admin = (...words: readonly string[]) =>
    run(['node', 'runtime/operator/command/admin.ts', ...words]).ended
  const shownTenant = await admin('tenant', 'show', tenant_id)
  require(shownTenant.stdout.includes(tenant_id), `admin tenant show: ${shownTenant.stderr}`)
  const { stdout: version } = await admin('--version')
  require(version.includes(commit.slice(0, 12)), `admin --version: ${version}`)
  console.info(version.trim())
  console.info('admin: answers in the image')

  process.kill(inner, 'SIGTERM')
  const { code } = await service.ended
  require(code === 0, `the service ended with ${code} after SIGTERM`)
  console.info('stopped: exit code 0 after SIGTERM')
})
