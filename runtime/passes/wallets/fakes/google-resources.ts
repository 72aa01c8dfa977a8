/**
 * The classes and objects of the fake Google Wallet, and its token endpoint, without a server: what it answers to each
 * request. It refuses what Google refuses.
 */
import { CLASS_SHAPES, MESSAGE_REQUEST, OBJECT_SHAPES } from './google-fields.ts'
import type { FakeTokens } from './google-tokens.ts'

export interface ResourcesOptions {
  readonly issuerId: string
  /** Whether to fetch images, as Google does, and to refuse a resource if one of its image URLs has no image. */
  readonly fetchPictures?: boolean
  /**
   * Number of classes and objects, and of requests, that are kept. Default: all. The client inserts a class or object that
   * is missing again.
   */
  readonly remembered?: number
}

export type FakeResource = Readonly<Record<string, unknown>>

export interface FakeGoogleAnswer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A request to the REST API or to the token endpoint. */
export interface FakeGoogleRequest {
  readonly method: string
  readonly path: string
  readonly authorization: string | undefined
  readonly body: string
}

const API = '/walletobjects/v1/'

/**
 * Creates a function that answers requests.
 * @param tokenUrl URL of the token endpoint, whose path is `/token`.
 * @param resources current classes and objects, by path.
 */
export function createGoogleAnswers(
  options: ResourcesOptions,
  tokens: FakeTokens,
  tokenUrl: () => string,
  resources: Map<string, FakeResource>,
): (request: FakeGoogleRequest) => Promise<FakeGoogleAnswer> {
  const wallet = createResources(options, resources)
  return async ({ method, path, authorization, body }) => {
    if (path === '/token') return tokens.exchange(new URLSearchParams(body), tokenUrl())
    if (!path.startsWith(API)) return refusal(404, 'NOT_FOUND', 'notFound', 'Requested entity was not found.')
    if (!tokens.accepts(authorization)) {
      const message = 'Request had invalid authentication credentials.'
      return refusal(401, 'UNAUTHENTICATED', 'authError', message)
    }
    return wallet(method, path.slice(API.length), body)
  }
}

/** Returns an error in Google's format. */
export function refusal(code: number, status: string, reason: string, message: string): FakeGoogleAnswer {
  const errors = [{ message, domain: 'walletobjects', reason }]
  return { status: code, body: { error: { code, message, status, errors } } }
}

const invalid = (message: string, reason = 'invalidResource') =>
  refusal(400, 'INVALID_ARGUMENT', reason, message)

/** Handles insert, get, update and patch of all resource types. Forgets the resource that was not written for longest. */
function createResources(
  { issuerId, fetchPictures = false, remembered = Number.POSITIVE_INFINITY }: ResourcesOptions,
  resources: Map<string, FakeResource>,
) {
  const seen = new Set<string>()

  const check = async (type: string, resource: FakeResource): Promise<FakeGoogleAnswer | undefined> => {
    const wrong = (CLASS_SHAPES[type] ?? OBJECT_SHAPES[type]!)(resource, 'resource')
    if (wrong !== undefined) return invalid(wrong)
    const { id, classId } = resource as { id: string; classId?: string }
    if (!id.startsWith(`${issuerId}.`)) {
      return refusal(403, 'PERMISSION_DENIED', 'permissionDenied', 'Permission denied.')
    }
    if (classId !== undefined && !resources.has(`${type.replace(/Object$/, 'Class')}/${classId}`)) {
      return refusal(404, 'NOT_FOUND', 'classNotFound', `Class ${classId} not found.`)
    }
    return fetchPictures ? checkPictures(resource, seen) : undefined
  }

  const store = async (type: string, resource: FakeResource): Promise<FakeGoogleAnswer> => {
    const wrong = await check(type, resource)
    if (wrong) return wrong
    // The fake approves resources under review immediately.
    const stored = 'reviewStatus' in resource ? { ...resource, reviewStatus: 'APPROVED' } : resource
    const path = `${type}/${String(resource.id)}`
    resources.delete(path) // moves it to the end
    resources.set(path, stored)
    if (resources.size > remembered) forgetOldest()
    return { status: 200, body: stored }
  }

  const notified = new Map<unknown, number[]>()

  const forgetOldest = () => {
    const [path, { id }] = resources.entries().next().value!
    resources.delete(path)
    notified.delete(id)
  }

  /** Adds a message. More than three notifications in 24 hours are refused. */
  const addMessage = async (type: string, known: FakeResource, sent: FakeResource) => {
    const wrong = MESSAGE_REQUEST(sent, 'request')
    if (wrong !== undefined) return invalid(wrong)
    const { message } = sent as { readonly message: { readonly messageType?: string } }
    if (message.messageType === 'TEXT_AND_NOTIFY') {
      const recent = (notified.get(known.id) ?? []).filter((at) => at > Date.now() - DAY_MS)
      if (recent.length >= MAX_NOTIFICATIONS)
        return refusal(403, 'PERMISSION_DENIED', 'quotaExceeded', 'QuotaExceededException')
      notified.set(known.id, [...recent, Date.now()])
    }
    const messages = [...((known.messages as readonly unknown[] | undefined) ?? []), message]
    const stored = await store(type, { ...known, messages })
    return stored.status === 200 ? { ...stored, body: { resource: stored.body } } : stored
  }

  return async (method: string, path: string, body: string): Promise<FakeGoogleAnswer> => {
    const [type = '', id, verb] = path.split('/')
    if (!CLASS_SHAPES[type] && !OBJECT_SHAPES[type]) {
      return refusal(404, 'NOT_FOUND', 'notFound', 'Requested entity was not found.')
    }
    const known = id === undefined ? undefined : resources.get(`${type}/${id}`)
    if (id !== undefined && !known) {
      return refusal(404, 'NOT_FOUND', 'resourceNotFound', `The ${type} ${id} was not found.`)
    }
    if (method === 'GET' && known) return { status: 200, body: known }
    const sent = readObject(body)
    if (!sent) return invalid('Invalid JSON payload received.', 'parseError')
    if (known && method === 'POST' && verb === 'addMessage') return addMessage(type, known, sent)
    if (id === undefined && method === 'POST') {
      if (!resources.has(`${type}/${String(sent.id)}`)) return store(type, sent)
      return refusal(409, 'ALREADY_EXISTS', 'existingResource', `${String(sent.id)} already exists.`)
    }
    if (sent.id !== undefined && sent.id !== id) return invalid('The id differs from that of the path.')
    if (method === 'PUT') return store(type, { ...sent, id })
    if (method === 'PATCH') return store(type, merge(known!, sent))
    return refusal(405, 'UNIMPLEMENTED', 'httpMethodNotAllowed', 'Method not allowed.')
  }
}

function readObject(text: string): FakeResource | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as FakeResource)
      : undefined
  } catch {
    return undefined // the caller reports the error
  }
}

/** Applies a merge patch (RFC 7396): null removes a member, lists are replaced. */
function merge(known: FakeResource, sent: FakeResource): FakeResource {
  const merged: Record<string, unknown> = { ...known }
  for (const [name, value] of Object.entries(sent)) {
    if (value === null) delete merged[name]
    else if (isMembers(value) && isMembers(merged[name])) merged[name] = merge(merged[name], value)
    else merged[name] = value
  }
  return merged
}

function isMembers(value: unknown): value is FakeResource {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const FETCH_MS = 3000

const DAY_MS = 86_400_000
const MAX_NOTIFICATIONS = 3

/**
 * Fetches each image URL once, as Google would. An unavailable image server results in 503, because it does not prove
 * that the image is missing.
 */
async function checkPictures(
  resource: FakeResource,
  seen: Set<string>,
): Promise<FakeGoogleAnswer | undefined> {
  for (const uri of picturesIn(resource)) {
    if (seen.has(uri)) continue
    const response = await fetch(uri, { signal: AbortSignal.timeout(FETCH_MS) }).catch(() => undefined)
    const type = response?.headers.get('Content-Type')
    await response?.body?.cancel()
    if (!response || response.status >= 500) {
      return refusal(503, 'UNAVAILABLE', 'backendError', `Image cannot be loaded now: ${uri}`)
    }
    if (!response.ok || type !== 'image/png') return invalid(`Image cannot be loaded: ${uri}`, 'invalidImage')
    seen.add(uri)
  }
  return undefined
}

function picturesIn(value: unknown): string[] {
  if (!isMembers(value)) return []
  const { sourceUri } = value
  if (isMembers(sourceUri)) return [String(sourceUri.uri)]
  return Object.values(value).flatMap(picturesIn)
}
