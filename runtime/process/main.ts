import { parseArgs } from 'node:util'
import { messageOf } from '../database/errors.ts'
import { forgetDemoSecrets } from '../operator/demo.ts'
import { createLog } from '../platform/log.ts'
import { type Flags, readSettings, SettingsError } from '../platform/settings.ts'
import { type RunningService, startService } from './compose.ts'
import { readyLine, readyWords } from './ready.ts'
import { createReload } from './reload.ts'

/** Exit codes: 1 if the service failed to start or stop, 2 for invalid settings or options. */
const FAILED = 1
const MISUSED = 2

/** Exit codes after a second signal: 128 plus the signal number. */
const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143 }

/**
 * Ctrl-C in a terminal arrives twice, directly and through npm. A repetition within this time is not a second request.
 */
const ECHO_MS = 1000

/** Time limit for stopping the database after requests in progress have ended or timed out. */
const STOP_TIMEOUT_MS = 35_000

const USAGE = `Usage: npm start -- [--json] [--demo] [--role api|worker|console|network|reveal]…

  --json        print one line of JSON on stdout when the service is ready
  --demo        create the demo tenant even if DATABASE_URL is set
  --role ROLE   run only this role; repeatable (default: all; network only if NETWORK_PORT is set)
  --help        print this help
`

function readFlags(words: readonly string[]): Flags & { readonly help: boolean } {
  try {
    const { values } = parseArgs({
      args: [...words],
      options: {
        json: { type: 'boolean', default: false },
        demo: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        role: { type: 'string', multiple: true, default: [] },
      },
    })
    return { roles: values.role, demo: values.demo, json: values.json, help: values.help }
  } catch (cause) {
    throw new SettingsError([{ variable: 'command line', problem: `${messageOf(cause)}\n\n${USAGE}` }])
  }
}

/**
 * Resolves at the first SIGTERM or SIGINT. A second signal, unless it is the echo of the first, ends the process
 * immediately.
 */
function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        const now = performance.now()
        if (first !== undefined && now - first > ECHO_MS) process.exit(SIGNAL_CODES[signal])
        first ??= now
        resolve()
      })
    }
  })
}

function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

async function announce(service: RunningService, json: boolean): Promise<void> {
  await print(json ? readyLine(service) : readyWords(service))
  if (service.demo?.secrets) await forgetDemoSecrets(service.operator)
}

async function main(): Promise<void> {
  const flags = readFlags(process.argv.slice(2))
  if (flags.help) return print(USAGE)
  const settings = readSettings(process.env, flags)
  const log = createLog(settings)
  let stopping = false
  const signal = firstSignal().then(() => {
    stopping = true
  })
  // A start reads all files anyway. In a terminal, SIGHUP means that it closes, which ends the process.
  let reload = () => {}
  if (!process.stdin.isTTY) process.on('SIGHUP', () => reload())
  const service = await startService(settings, log)
  reload = createReload({ env: process.env, flags, service, log })
  if (!stopping) await announce(service, settings.json)
  await signal
  log.info('Stopping after the requests in progress have finished')
  setTimeout(
    () => {
      log.error('The service did not stop in time; exiting')
      process.exit(FAILED)
    },
    settings.timeouts.leaveMs + settings.timeouts.drainMs + STOP_TIMEOUT_MS,
  ).unref()
  await service.stop()
}

try {
  await main()
  process.exit(0)
} catch (error) {
  const misused = error instanceof SettingsError
  process.stderr.write(
    misused ? `error: the settings are invalid\n${error.message}\n` : `error: ${messageOf(error)}\n`,
  )
  process.exit(misused ? MISUSED : FAILED)
}
