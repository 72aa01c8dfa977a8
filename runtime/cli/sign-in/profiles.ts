/** The profiles that `svc login` stores on this machine: one file for each profile, readable only by the user. */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Environment } from '../../platform/environment.ts'
import { MisuseError } from '../terminal/failures.ts'

export interface ProfileTokens {
  readonly access_token: string
  readonly refresh_token: string
  /** ISO 8601. */
  readonly expires_at: string
  /** Granted scopes, separated by spaces. */
  readonly scope: string
}

export interface Profile extends ProfileTokens {
  readonly environment: Environment
  /** Address of the API. */
  readonly base_url: string
  /** Issuer of the tokens: the origin of the dashboard. */
  readonly auth_url: string
  readonly token_endpoint: string
  readonly revocation_endpoint: string
  readonly client_id: string
  /** Seed of the signing secret of `svc listen`. */
  readonly signing_seed: string
}

export const DEFAULT_PROFILE = 'default'

const READ_BY_OWNER = 0o600
const FOLDER_OF_OWNER = 0o700
const SUFFIX = '.json'

/**
 * Validates a profile name.
 * @throws MisuseError if the name is not a valid file name on every system.
 */
export function requireName(name: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name)) return name
  throw new MisuseError(
    'a profile name consists of up to 32 lowercase letters, digits, - and _, and starts with a letter or a digit',
  )
}

export interface Profiles {
  pathOf(name: string): string
  /** Returns the names of all profiles, sorted. */
  names(): readonly string[]
  /**
   * Returns a profile, or undefined if it does not exist.
   * @throws Error if the file is damaged.
   */
  read(name: string): Profile | undefined
  /** Replaces the file atomically: concurrent readers see either the old or the new content. */
  write(name: string, profile: Profile): void
  remove(name: string): void
}

export function openProfiles(configFolder: string): Profiles {
  const folder = join(configFolder, 'profiles')
  const pathOf = (name: string) => join(folder, `${requireName(name)}${SUFFIX}`)
  return {
    pathOf,
    names: () =>
      listFolder(folder)
        .filter((file) => file.endsWith(SUFFIX))
        .map((file) => file.slice(0, -SUFFIX.length))
        .toSorted(),
    read: (name) => parse(name, readIfThere(pathOf(name))),
    write: (name, profile) => {
      mkdirSync(folder, { recursive: true, mode: FOLDER_OF_OWNER })
      chmodSync(folder, FOLDER_OF_OWNER)
      replaceFile(pathOf(name), `${JSON.stringify(profile, null, 2)}\n`)
    },
    remove: (name) => rmSync(pathOf(name), { force: true }),
  }
}

function replaceFile(path: string, text: string): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`
  const file = openSync(draft, 'wx', READ_BY_OWNER)
  try {
    writeSync(file, text)
    // Sync to disk: a refresh token is valid once, so the new one must survive a power failure.
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT'

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

const MEMBERS = [
  'access_token',
  'refresh_token',
  'expires_at',
  'scope',
  'environment',
  'base_url',
  'auth_url',
  'token_endpoint',
  'revocation_endpoint',
  'client_id',
  'signing_seed',
] as const satisfies readonly (keyof Profile)[]

function parse(name: string, text: string | undefined): Profile | undefined {
  if (text === undefined) return undefined
  const profile = parseJson(text)
  const isWhole = MEMBERS.every((member) => typeof profile?.[member] === 'string')
  if (isWhole) return profile as unknown as Profile
  throw new Error(`the profile ${name} is damaged: run svc login --profile ${name} to replace it`)
}

function parseJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // not JSON, so not a profile either
  }
}
