/** The web service that Apple Wallet calls at `webServiceURL` (Apple, "Adding a Web Service to Update Passes"). */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import { ApiError, invalidParameter, invalidState } from '../../../api/errors/errors.ts'
import { type Devices, MAX_DEVICES } from '../../passes/registrations.ts'
import type { PassPlace, PassTokens } from '../render/pass-tokens.ts'
import type { ChangeTags } from './change-tags.ts'
import { type HolderRequest, type HolderRoute, requireMethod } from './holders.ts'
import type { PassFiles } from './pass-files.ts'
import { readBody } from './read-body.ts'

export interface AppleServiceParts {
  /** Returns the only pass type identifier that the service has. */
  readonly passType: () => string
  readonly passTokens: Pick<PassTokens, 'read'>
  readonly devices: Devices
  readonly files: PassFiles
  readonly tags: ChangeTags
  readonly log: Logger
}

/** Routes requests under `/apple/v1/`. */
export function appleServiceRoute(parts: AppleServiceParts): HolderRoute {
  return (visit) => {
    const [kind, ...names] = visit.rest.split('/')
    if (kind === 'passes' && names.length === 2) return sendPass(parts, visit, names)
    if (kind === 'devices' && names[1] === 'registrations') {
      const [device = '', , passType = '', serial] = names
      if (names.length === 3) return listSerials(parts, visit, device, passType)
      if (names.length === 4) return register(parts, visit, device, [passType, serial!])
    }
    return kind === 'log' && names.length === 0 ? takeLog(parts, visit) : undefined
  }
}

/** Returns the pass whose token the device sends. Throws 401 if it is not the pass in the path. */
function authorize(
  { passType, passTokens }: AppleServiceParts,
  { request }: HolderRequest,
  [type, serial]: readonly string[],
): PassPlace {
  const token = /^ApplePass (\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const place = token === undefined ? undefined : passTokens.read('apple', token)
  if (place && place.passId === serial && type === passType()) return place
  const message = 'The Authorization header must contain the token of this pass: ApplePass <token>.'
  throw new ApiError(401, 'authentication_error', 'invalid_token', message, {
    headers: ['WWW-Authenticate', 'ApplePass'],
  })
}

async function sendPass(
  parts: AppleServiceParts,
  visit: HolderRequest,
  names: readonly string[],
): Promise<void> {
  requireMethod(visit, 'GET', 'HEAD')
  await parts.files.send(visit, authorize(parts, visit, names))
}

async function register(
  parts: AppleServiceParts,
  visit: HolderRequest,
  device: string,
  names: readonly string[],
): Promise<void> {
  requireMethod(visit, 'POST', 'DELETE')
  const place = authorize(parts, visit, names)
  checkDevice(device)
  if (visit.request.method === 'DELETE') {
    await parts.devices.unregister(place, device)
    return end(visit.response, 200)
  }
  const { pushToken } = await readJson(visit.request)
  if (typeof pushToken !== 'string' || !PUSH_TOKEN.test(pushToken)) {
    throw invalidParameter('invalid_format', 'pushToken', 'pushToken must be a device token in hexadecimal.')
  }
  const outcome = await parts.devices.register(place, device, pushToken)
  if (outcome === 'unknown') throw new ApiError(404, 'not_found', 'not_found', 'The pass no longer exists.')
  if (outcome === 'full')
    throw invalidState(`The pass is registered on ${MAX_DEVICES} devices, which is the maximum.`)
  end(visit.response, outcome === 'new' ? 201 : 200)
}

const PUSH_TOKEN = /^([0-9a-f]{2}){8,100}$/i

function checkDevice(device: string): void {
  if (/^[\w.-]{1,100}$/.test(device)) return
  throw invalidParameter(
    'invalid_format',
    'deviceLibraryIdentifier',
    'deviceLibraryIdentifier must have 1 to 100 letters, digits, dots, hyphens or underscores.',
  )
}

/**
 * Lists changed serial numbers. Apple sends no token with this request: anyone with a device ID can find out which
 * passes changed, but not what they show.
 */
async function listSerials(
  parts: AppleServiceParts,
  visit: HolderRequest,
  device: string,
  type: string,
): Promise<void> {
  requireMethod(visit, 'GET', 'HEAD')
  checkDevice(device)
  if (type !== parts.passType()) return end(visit.response, 204)
  const tag = new URLSearchParams(visit.request.url?.split('?')[1]).get('passesUpdatedSince')
  const before = tag === null ? undefined : parts.tags.read(device, tag)
  const { passIds, seen } = await parts.devices.changedSince(device, before)
  if (passIds.length === 0) return end(visit.response, 204)
  const body = JSON.stringify({ serialNumbers: passIds, lastUpdated: parts.tags.write(device, seen) })
  end(visit.response, 200, body)
}

const MAX_LINES = 20
const MAX_LINE = 500

/** Logs the error messages that Apple Wallet reports, and masks anything that could be a token. */
async function takeLog({ log }: AppleServiceParts, visit: HolderRequest): Promise<void> {
  requireMethod(visit, 'POST')
  const { logs } = await readJson(visit.request, MAX_LOG)
  const lines = Array.isArray(logs) ? logs.filter((line) => typeof line === 'string') : []
  for (const line of lines.slice(0, MAX_LINES)) {
    log.info(
      { line: line.slice(0, MAX_LINE).replaceAll(/[\w-]{40,}/g, '…') },
      'Apple Wallet reported an error',
    )
  }
  end(visit.response, 200)
}

const MAX_BODY = 4096
const MAX_LOG = 64 * 1024

/** Reads a JSON object. Throws 413 for more than `most` bytes and 400 for anything else. */
async function readJson(
  request: IncomingMessage,
  most = MAX_BODY,
): Promise<Readonly<Record<string, unknown>>> {
  const text = await readBody(request, most)
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  } catch {
    // the error below covers this case
  }
  throw invalidParameter('malformed_json', 'body', 'The body is not a JSON object.')
}

function end(response: ServerResponse, status: number, body?: string): void {
  const type = body === undefined ? [] : ['Content-Type', 'application/json']
  const length = status === 204 ? [] : ['Content-Length', String(Buffer.byteLength(body ?? ''))]
  response.writeHead(status, [
    ...type,
    ...length,
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
  ])
  response.end(body)
}
