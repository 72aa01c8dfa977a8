import { createPrivateKey, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { codeOf, messageOf } from '../../database/errors.ts'
import type { Settings, TlsFiles } from '../../platform/settings.ts'
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
  | 'networkPort'
  | 'tls'
  | 'networkTls'
  | 'production'
  | 'trustedProxies'
>

/** Checks whether each port is free or in use by a running service. */
export async function checkPorts(settings: ListenSettings): Promise<Finding[]> {
  const { roles, sandboxPort, livePort, consolePort, networkPort } = settings
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
    ...places.map(([variable, port]) =>
      checkPort({ host: settings.host, isTls: settings.tls !== undefined }, variable, port),
    ),
    ...(roles.has('network') && networkPort !== undefined
      ? [checkPort({ host: settings.host, isTls: true }, 'NETWORK_PORT', networkPort)]
      : []),
    ...(roles.has('reveal') && revealPort !== undefined
      ? [checkPort({ host: revealHost, isTls: settings.tls !== undefined }, 'REVEAL_PORT', revealPort)]
      : []),
  ])
}

async function checkPort(
  { host, isTls }: { readonly host: string; readonly isTls: boolean },
  variable: string,
  port: number,
): Promise<Finding> {
  if (port === 0) return ok(variable, 'any free port')
  const server = createServer()
  try {
    await once(server.listen(port, host), 'listening')
    return ok(variable, `${host}:${port} is free`)
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') return fail(variable, `${host}:${port}: ${messageOf(error)}`)
    const local = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
    if (isTls) return warn(variable, `${host}:${port} is in use, by this service or another program`)
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

/** Checks the certificates of the listeners and their keys, if this process serves TLS. */
export function checkTls(settings: ListenSettings, now: number): Finding[] {
  const { roles, networkTls, tls } = settings
  const network = roles.has('network') && networkTls !== tls ? networkTls : undefined
  return [
    tls ? checkCertificate('TLS', tls, now) : checkProxy(settings),
    ...(network ? [checkCertificate('TLS of the card network', network, now)] : []),
  ]
}

function checkProxy({ production, trustedProxies }: ListenSettings): Finding {
  if (production && trustedProxies === 0) {
    return warn(
      'TLS',
      'neither TLS_CERT nor TRUSTED_PROXIES is set: set TLS_CERT and TLS_KEY, or set TRUSTED_PROXIES if a proxy serves TLS',
    )
  }
  return ok('TLS', 'TLS_CERT is not set: this process serves HTTP')
}

function checkCertificate(check: string, { cert, key, variables }: TlsFiles, now: number): Finding {
  try {
    const certificate = new X509Certificate(readFileSync(cert))
    if (!certificate.checkPrivateKey(createPrivateKey(readFileSync(key)))) {
      return fail(check, `${key} is not the key of ${cert}: correct ${variables[1]} or ${variables[0]}`)
    }
    const days = Math.floor((Date.parse(certificate.validTo) - now) / DAY_MS)
    const words = `the certificate is valid until ${certificate.validTo}`
    if (days < 0) return fail(check, `the certificate expired on ${certificate.validTo}: renew it`)
    return days < RENEW_WITHIN_DAYS ? warn(check, `${words}: renew it`) : ok(check, words)
  } catch (error) {
    return fail(check, error)
  }
}
