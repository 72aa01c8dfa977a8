import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { codeOf, messageOf } from '../../database/errors.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const ASK_TIMEOUT_MS = 2000
const DAY_MS = 86_400_000
const RENEW_WITHIN_DAYS = 14

type ListenSettings = Pick<
  Settings,
  | 'roles'
  | 'host'
  | 'sandboxPort'
  | 'livePort'
  | 'consolePort'
  | 'revealPort'
  | 'revealHost'
  | 'tls'
  | 'production'
  | 'trustedProxies'
>

/** Checks whether each port is free or in use by a running service. */
export async function checkPorts(settings: ListenSettings): Promise<Finding[]> {
  const { roles, sandboxPort, livePort, consolePort } = settings
  const places = [
    ...(roles.has('api')
      ? ([
          ['SANDBOX_PORT', sandboxPort],
          ['LIVE_PORT', livePort],
        ] as const)
      : []),
    ...(roles.has('console') ? ([['CONSOLE_PORT', consolePort]] as const) : []),
  ]
  const { revealPort, revealHost } = settings
  return Promise.all([
    ...places.map(([variable, port]) => checkPort(settings, variable, port)),
    ...(roles.has('reveal') && revealPort !== undefined
      ? [checkPort({ ...settings, host: revealHost }, 'REVEAL_PORT', revealPort)]
      : []),
  ])
}

async function checkPort(settings: ListenSettings, variable: string, port: number): Promise<Finding> {
  const { host, tls } = settings
  if (port === 0) return ok(variable, 'any free port')
  const server = createServer()
  try {
    await once(server.listen(port, host), 'listening')
    return ok(variable, `${host}:${port} is free`)
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') return fail(variable, `${host}:${port}: ${messageOf(error)}`)
    const local = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
    if (tls) return warn(variable, `${host}:${port} is in use, by this service or another program`)
    return (await lives(`http://${local.includes(':') ? `[${local}]` : local}:${port}/livez`))
      ? ok(variable, `${host}:${port} is in use by a running service`)
      : fail(variable, `another program listens on ${host}:${port}: stop it, or set ${variable}`)
  } finally {
    server.close()
  }
}

async function lives(address: string): Promise<boolean> {
  try {
    const response = await fetch(address, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) })
    return response.ok
  } catch {
    return false // a different program, or one that does not speak HTTP
  }
}

/** Checks the certificate and its key, if this process serves TLS. */
export function checkTls({ tls, production, trustedProxies }: ListenSettings, now: number): Finding {
  if (!tls) {
    if (production && trustedProxies === 0) {
      return warn(
        'TLS',
        'neither TLS_CERT nor TRUSTED_PROXIES is set: set TLS_CERT and TLS_KEY, or set TRUSTED_PROXIES if a proxy serves TLS',
      )
    }
    return ok('TLS', 'TLS_CERT is not set: this process serves HTTP')
  }
  try {
    const certificate = new X509Certificate(readFileSync(tls.cert))
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(tls.key)))) {
      return fail('TLS', `${tls.key} is not the key of ${tls.cert}: correct TLS_KEY or TLS_CERT`)
    }
    const days = Math.floor((Date.parse(certificate.validTo) - now) / DAY_MS)
    const words = `the certificate is valid until ${certificate.validTo}`
    if (days < 0) return fail('TLS', `the certificate expired on ${certificate.validTo}: renew it`)
    return days < RENEW_WITHIN_DAYS ? warn('TLS', `${words}: renew it`) : ok('TLS', words)
  } catch (error) {
    return fail('TLS', error)
  }
}
