/**
 * `npm run bench:network`: messages per second through the network listener, beside a listener on `createVersionedApi` with
 * the same TLS, certificate check and signatures. The network behind both approves at once. Each listener is a process
 * of its own, so that its CPU time is known. Rounds alternate; medians are printed.
 *
 * Options: --rounds N (5), --seconds S (3).
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { pino } from 'pino'
import { versions } from '../../generated/network/versions.ts'
import { createVersionedApi } from '../../generators/server/api.ts'
import { readBytes } from '../../runtime/api/body.ts'
import type { Network } from '../../runtime/cards/network/network.ts'
import { answerInTime } from '../../runtime/cards/processor/in-time.ts'
import { createNetworkListener } from '../../runtime/cards/processor/listener.ts'
import type { ProcessorRegistry } from '../../runtime/cards/processor/registry.ts'
import { networkTls } from '../../runtime/cards/processor/server-certificate.ts'
import { findSignatureFault } from '../../runtime/cards/processor/signature.ts'
import { createNetworkCounter } from '../../runtime/cards/processor/tally.ts'
import { signBody } from '../../runtime/events/outbound/signing.ts'
import { readSettings } from '../../runtime/platform/settings.ts'
import { listenOn } from '../../runtime/process/listeners.ts'
import { approving, authorization } from '../cards/processor/door.ts'
import { type Scratch, withScratch } from './scratch.ts'

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    serve: { type: 'string' },
    directory: { type: 'string' },
  },
})

const SECRET = 'netsec_bench'
const DEADLINE_MS = 2000
const NAMES = ['listener', 'createVersionedApi'] as const

const processors: ProcessorRegistry = {
  environmentOf: () => 'live',
  secretsOf: () => [SECRET],
  refresh: async () => {},
}

function thin(network: Network) {
  const counter = createNetworkCounter()
  const log = pino({ level: 'silent' })
  const inTime = { counter, deadlineMs: DEADLINE_MS, mostRequests: 2000, overloaded: () => undefined, log }
  return createNetworkListener({
    ...inTime,
    network: answerInTime(network, inTime),
    processors,
    isReady: async () => true,
    now: Date.now,
    requestLog: 'off',
  })
}

/** The same on the toolkit's server: it takes and gives requests of fetch, so bodies are read and signed around it. */
function versioned(network: Network): ReturnType<typeof createNetworkListener> {
  const handlers = {
    authorize: async (_context: undefined, { body }: { readonly body: { readonly message_id: string } }) => {
      const timer = setTimeout(() => {}, DEADLINE_MS)
      const message = body as Parameters<typeof network.exchange<'authorize'>>[2]
      const answer = await network.exchange('live', 'authorize', message, performance.now() + DEADLINE_MS)
      clearTimeout(timer)
      return { status: 200, body: answer }
    },
  }
  const api = createVersionedApi({ versions, handlers, context: () => undefined })
  const answer = async (...[request, response]: Parameters<ReturnType<typeof createNetworkListener>>) => {
    const { socket, headers, url } = request
    const fingerprint = socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.fingerprint256 : ''
    if (!fingerprint) throw new Error('no certificate')
    const bytes = await readBytes(request, DEADLINE_MS)
    const signature = headers['network-signature']?.toString()
    const fault = findSignatureFault(signature, bytes, [SECRET], Date.now())
    if (fault !== undefined) throw new Error(fault)
    const answered = await api.fetch(
      new Request(`https://x${url}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'network-signature': signature ?? '' },
        body: new Uint8Array(bytes),
      }),
    )
    const body = await answered.text()
    const signed = signBody([SECRET], body, Math.floor(Date.now() / 1000))
    response.writeHead(answered.status, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      'Network-Signature': signed,
    })
    response.end(body)
  }
  return (request, response) => {
    answer(request, response).catch((error: unknown) => {
      process.stderr.write(`${error}\n`)
      response.destroy()
    })
  }
}

async function serve(name: string, directory: string): Promise<void> {
  const settings = readSettings({ DATA_DIR: directory })
  const tls = networkTls(settings, Date.now())
  const port = await listenOn(settings, { variable: 'NETWORK_PORT', port: 0, tls })
  port.attach(name === NAMES[0] ? thin(approving) : versioned(approving))
  process.on('message', () => process.send?.(cpuMs()))
  process.once('disconnect', () => process.exit(0))
  process.send?.(port.url)
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

const ask = async <T>(child: ChildProcess): Promise<T> => {
  child.send('cpu')
  const [answer] = await once(child, 'message')
  return answer as T
}

const median = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

async function compare({ directory, own }: Scratch): Promise<void> {
  const servers = await Promise.all(
    NAMES.map(async (name) => {
      const child = fork(import.meta.filename, ['--serve', name, '--directory', directory])
      own(child)
      const [url] = await once(child, 'message')
      return { name, child, url: String(url) }
    }),
  )
  const body = JSON.stringify(authorization())
  const pem = readFileSync(join(directory, 'network', 'server.pem'), 'utf8')
  for (const connections of [1, 64]) {
    const figures = new Map(NAMES.map((name) => [name, { perSecond: [] as number[], cpu: [] as number[] }]))
    for (let round = 0; round < Number(options.rounds); round += 1) {
      for (const { name, child, url } of servers) {
        const before = await ask<number>(child)
        const result = await autocannon({
          url: `${url}/v1/authorizations`,
          method: 'POST',
          connections,
          duration: Number(options.seconds),
          // It ends with a sample.
          sampleInt: Math.min(1, Number(options.seconds)) * 1000,
          headers: {
            'content-type': 'application/json',
            'network-signature': signBody([SECRET], body, Math.floor(Date.now() / 1000)),
          },
          body,
          tlsOptions: { cert: pem, key: pem, rejectUnauthorized: false },
        })
        const count = result['2xx']
        if (result.non2xx + result.errors > 0)
          throw new Error(`${name}: ${result.non2xx} refused, ${result.errors} failed`)
        figures.get(name)?.perSecond.push(count / result.duration)
        figures.get(name)?.cpu.push(((await ask<number>(child)) - before) / count)
      }
    }
    for (const [name, { perSecond, cpu }] of figures) {
      const rate = Math.round(median(perSecond))
      process.stdout.write(
        `${connections} connections  ${name.padEnd(20)} ${rate}/s  ${median(cpu).toFixed(3)} ms CPU each\n`,
      )
    }
  }
}

if (options.serve !== undefined && options.directory !== undefined) {
  await serve(options.serve, options.directory)
} else {
  await withScratch(compare)
}
