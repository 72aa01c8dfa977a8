import { parseArgs } from 'node:util'
import { messageOf } from '../database/errors.ts'
import { forgetDemoSecrets } from '../operator/demo.ts'
import { createLog } from '../platform/log.ts'
import { type Flags, readSettings, SettingsError } from '../platform/settings.ts'
import { type RunningService, startService } from './compose.ts'
import { readyLine, readyWords } from './ready.ts'

/** Exit codes: 1 when the service could not start or stop well, 2 when it was not told how. */
const FAILED = 1
const MISUSED = 2

/** Of a process that a signal ended at once: 128 and the signal's number. */
const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143 }

/** A terminal's Ctrl-C reaches us from the terminal and, through npm, once more: that is no second wish. */
const ECHO_MS = 1000

/** What the database's server has to stop, after the requests under way had their time. */
const STOP_TIMEOUT_MS = 35_000

const USAGE = `Usage: npm start -- [--json] [--demo] [--role api|worker|console]…

  --json        print one line of JSON on stdout once everything answers
  --demo        make the demo tenant with DATABASE_URL too
  --role ROLE   serve this only; repeatable (default: all)
  --help        this
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

/** Resolves at the first SIGTERM or SIGINT; a second one, not its echo, ends the process at once. */
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
  const service = await startService(settings, log)
  if (!stopping) await announce(service, settings.json)
  await signal
  log.info('stopping: requests under way are finished first')
  setTimeout(
    () => {
      log.error('giving up: something does not stop')
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
    misused ? `error: the settings cannot be used\n${error.message}\n` : `error: ${messageOf(error)}\n`,
  )
  process.exit(misused ? MISUSED : FAILED)
}
