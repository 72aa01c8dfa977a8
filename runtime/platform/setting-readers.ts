/** Readers of single variables. Each returns the value, or throws an error that says what is wrong with the text. */
import { resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { US_STATES } from './countries.ts'
import { parseInstant } from './instants.ts'
import type { SettingName } from './setting-catalog.ts'

/** Reads one variable. The text is undefined if the variable is not set or empty. */
export type SettingReader<T> = (text: string | undefined) => T

/** Reads a variable. A problem is collected, and the result is then undefined. */
export type Read = <T>(variable: SettingName, parse: SettingReader<T>) => T | undefined

/** A shorter secret could be guessed from one known key and its digest. */
const SECRET_MINIMUM = 16

export function whole<Fallback extends number | undefined>(
  fallback: Fallback,
  least: number,
  most: number,
): SettingReader<number | Fallback> {
  return (text) => {
    if (text === undefined) return fallback
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= least && value <= most) return value
    throw new Error(`"${text}" is not a whole number from ${least} to ${most}`)
  }
}

export function onOff(fallback: boolean): SettingReader<boolean> {
  return (text) => {
    if (text === undefined) return fallback
    if (/^(on|true|yes|1)$/i.test(text)) return true
    if (/^(off|false|no|0)$/i.test(text)) return false
    throw new Error(`"${text}" is not valid: expected on or off`)
  }
}

export function url(schemes: readonly string[]): SettingReader<string | undefined> {
  return (text) => {
    if (text === undefined) return undefined
    if (!URL.canParse(text)) throw new Error('is not a URL') // the text may hold a password
    const { protocol } = new URL(text)
    if (schemes.includes(protocol)) return text
    throw new Error(`starts with ${protocol}//: expected ${schemes.join('// or ')}//`)
  }
}

export function oneOf<T extends string>(known: readonly T[], fallback: T): SettingReader<T> {
  return (text) => {
    const value = known.find((each) => each === (text ?? fallback))
    if (value !== undefined) return value
    throw new Error(`"${text}" is not valid: expected one of ${known.join(', ')}`)
  }
}

export function origin(text: string | undefined): string | undefined {
  const address = url(['http:', 'https:'])(text)
  if (address === undefined) return undefined
  const { origin: whole, pathname, search, hash } = new URL(address)
  if (pathname === '/' && search === '' && hash === '') return whole
  throw new Error(`"${address}" is not an origin: expected a URL without a path, such as ${whole}`)
}

/** Reads on or off. On is not allowed in production. */
export function notInProduction(production: boolean): SettingReader<boolean> {
  return (text) => {
    const isOn = onOff(false)(text)
    if (isOn && production)
      throw new Error('is not allowed with NODE_ENV=production: card messages must be real there')
    return isOn
  }
}

export function instant(production: boolean): SettingReader<number | undefined> {
  return (text) => {
    if (text === undefined) return undefined
    if (production)
      throw new Error(
        'is not allowed with NODE_ENV=production: the service clock must show the real time there',
      )
    const value = text.includes('T') ? parseInstant(text) : undefined
    if (value === undefined) throw new Error(`"${text}" is not an ISO instant such as 2027-02-02T00:00:00Z`)
    return value
  }
}

export function listenUrl(databaseUrl: string | undefined): SettingReader<string | undefined> {
  return (text) => {
    if (text !== undefined && databaseUrl === undefined) {
      throw new Error('requires DATABASE_URL: both must name the same database, this one without a pooler')
    }
    return url(['postgres:', 'postgresql:'])(text)
  }
}

export function migrations(production: boolean): SettingReader<string | undefined> {
  return (text) => {
    if (text === undefined) return undefined
    if (production) throw new Error('is not allowed with NODE_ENV=production: it is only for upgrade tests')
    return resolve(text)
  }
}

export function networks(production: boolean): SettingReader<readonly string[]> {
  return (text) => {
    if (text === undefined) return []
    if (production)
      throw new Error('is not allowed with NODE_ENV=production: it opens private networks to tenants')
    const given = text.split(/[\s,]+/).filter((network) => network !== '')
    const bad = given.filter((network) => !ipaddr.isValidCIDR(network))
    if (bad.length === 0) return given
    throw new Error(`expected networks such as 127.0.0.0/8, got ${bad.join(', ')}`)
  }
}

export function servers(text: string | undefined): readonly string[] {
  const given = (text ?? '').split(/[\s,]+/).filter((server) => server !== '')
  const bad = given.filter(
    (server) => !ipaddr.isValid(server.replace(/^\[(.*)\]/, '$1').replace(/:\d{1,5}$/, '')),
  )
  if (bad.length === 0) return given
  throw new Error(`expected addresses of DNS servers such as 10.0.0.2:53, got ${bad.join(', ')}`)
}

export function proxies(text: string | undefined): number | readonly string[] {
  if (text === undefined) return 0
  if (/^\d{1,2}$/.test(text)) return Number(text)
  const networks = text.split(/[\s,]+/).filter((network) => network !== '')
  const bad = networks.filter((network) => !ipaddr.isValid(network) && !ipaddr.isValidCIDR(network))
  if (bad.length === 0) return networks
  throw new Error(`expected a number of proxies, or networks such as 10.0.0.0/8, got ${bad.join(', ')}`)
}

/** Requires TLS in production, because requests to the URL carry a token. */
export function secureUrl(production: boolean): SettingReader<string | undefined> {
  return url(production ? ['https:'] : ['https:', 'http:'])
}

/** Allows only digits, because stored links contain the issuer ID and are parsed again. */
export function issuer(text: string | undefined): void {
  if (text === undefined || /^\d{1,30}$/.test(text)) return
  throw new Error(`"${text}" is not a Google Wallet issuer ID: expected digits only`)
}

export function pepper(
  databaseUrl: string | undefined,
  production: boolean,
): SettingReader<string | undefined> {
  return (text) => {
    if (text === undefined && databaseUrl !== undefined) {
      throw new Error(
        'is required with DATABASE_URL, because the digests of API keys depend on it. Create one with openssl rand -hex 32',
      )
    }
    return secretText(production)(text)
  }
}

/** Requires a long text in production. */
export function secretText(production: boolean): SettingReader<string | undefined> {
  return (text) => {
    if (production && text !== undefined && text.length < SECRET_MINIMUM) {
      throw new Error(`has fewer than ${SECRET_MINIMUM} characters. Create one with openssl rand -hex 32`)
    }
    return text
  }
}

/** Reads two-letter codes of US states. Returns all states if the variable is not set. */
export const usStates: SettingReader<ReadonlySet<string>> = (text) => {
  if (text === undefined) return US_STATES
  const states = text.split(',').map((state) => state.trim().toUpperCase())
  const unknown = states.find((state) => !US_STATES.has(state))
  if (unknown === undefined) return new Set(states)
  throw new Error(`"${unknown}" is not a state of the United States: expected codes such as CA,NY`)
}

export interface SettingProblem {
  readonly variable: string
  readonly problem: string
}
