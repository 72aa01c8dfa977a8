/** What `svc login` leaves on this machine: a file for each profile, which nobody else may read. */
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
  /** Words with spaces between, as granted. */
  readonly scope: string
}

export interface Profile extends ProfileTokens {
  readonly environment: Environment
  /** Of the API. */
  readonly base_url: string
  /** The issuer of the tokens: the origin of the console. */
  readonly auth_url: string
  readonly token_endpoint: string
  readonly revocation_endpoint: string
  readonly client_id: string
  /** What `svc listen` makes its signing secret of. */
  readonly signing_seed: string
}

export const DEFAULT_PROFILE = 'default'

const READ_BY_OWNER = 0o600
const FOLDER_OF_OWNER = 0o700
const SUFFIX = '.json'

/** @throws MisuseError when a file cannot be called so on every system. */
export function requireName(name: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name)) return name
  throw new MisuseError('a profile is named with up to 32 small letters, digits, - and _')
}

export interface Profiles {
  pathOf(name: string): string
  /** Sorted. */
  names(): readonly string[]
  /** @throws Error when the file is there but is no profile. */
  read(name: string): Profile | undefined
  /** Replaces the file as a whole: whoever reads at the same time sees the old one or the new one. */
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
    // A refresh token counts once: the new one has to outlast a loss of power.
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
  throw new Error(`the profile ${name} is damaged: svc login --profile ${name} makes a new one`)
}

function parseJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // nor is it a profile
  }
}
