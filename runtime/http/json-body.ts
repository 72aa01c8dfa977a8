import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import type { Detail } from '../contract.ts'
import { ApiError, unavailable } from './errors.ts'
import { BODY_LIMIT, bodyTooLarge, unsupportedMediaType } from './transport.ts'

/** Objects and arrays inside each other. */
const DEEPEST = 32

/** All bodies that are being read may take so many bytes together: they stand outside the heap that is watched. */
const MOST_HELD = 256 * BODY_LIMIT

let held = 0

/**
 * Reads a body whole. Rejects with 413 when it grows too large, with 503 when all that are being read do, and with the
 * connection's error when that is lost.
 */
export function readBytes(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let counted = 0
    const release = () => {
      held -= counted
      counted = 0
    }
    const giveUp = (error: Error) => {
      release()
      chunks.length = 0
      request.off('data', take)
      request.pause()
      reject(error)
    }
    const take = (chunk: Buffer) => {
      size += chunk.length
      counted += chunk.length
      held += chunk.length
      if (size > BODY_LIMIT) giveUp(bodyTooLarge())
      else if (held > MOST_HELD) giveUp(unavailable())
      else chunks.push(chunk)
    }
    request.on('data', take)
    request.once('end', () => {
      release()
      resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks))
    })
    request.once('error', giveUp)
    request.once('close', () => giveUp(new Error('the request ended before its body')))
  })
}

const JSON_TYPE = /^application\/json *(; *charset="?utf-8"? *)?$/i

/** Throws 415 unless the header says JSON, in UTF-8 where it says anything about that. */
export function requireJsonType(contentType: string | undefined): void {
  if (contentType !== undefined && JSON_TYPE.test(contentType)) return
  throw unsupportedMediaType('Send the body as application/json.')
}

/** Parses JSON. Throws `malformed_json`. */
export function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw malformedJson('The body is not UTF-8.')
  try {
    return JSON.parse(bytes.toString())
  } catch (error) {
    if (error instanceof SyntaxError) throw malformedJson('The body is not valid JSON.')
    throw error
  }
}

export function malformedJson(message: string): ApiError {
  return new ApiError(400, 'invalid_parameter', 'malformed_json', message)
}

/**
 * Looks for what JSON can say and nothing behind here should meet: text that PostgreSQL cannot hold (NUL, halves of
 * surrogate pairs), numbers beyond all range, a member that would pass for a prototype. Throws where it is nested too deep.
 */
export function findForbidden(value: unknown, depth = 0): Detail | undefined {
  if (typeof value === 'string') {
    const issue = judgeText(value)
    return issue === undefined ? undefined : { field: '', issue }
  }
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : { field: '', issue: 'is out of range' }
  if (typeof value !== 'object' || value === null) return undefined
  if (depth === DEEPEST) throw malformedJson(`The body is nested deeper than ${DEEPEST} levels.`)
  return Array.isArray(value) ? findInItems(value, depth + 1) : findInMembers(value, depth + 1)
}

function findInItems(items: readonly unknown[], depth: number): Detail | undefined {
  for (const [index, item] of items.entries()) {
    const found = findForbidden(item, depth)
    if (found) return { field: joinField(`[${index}]`, found.field), issue: found.issue }
  }
  return undefined
}

function findInMembers(members: object, depth: number): Detail | undefined {
  for (const [name, member] of Object.entries(members)) {
    const issue = name === '__proto__' ? 'is not allowed as a name' : judgeText(name)
    if (issue !== undefined) return { field: name.toWellFormed().replaceAll('\0', '\ufffd'), issue }
    const found = findForbidden(member, depth)
    if (found) return { field: joinField(name, found.field), issue: found.issue }
  }
  return undefined
}

function joinField(outer: string, inner: string): string {
  return inner === '' || inner.startsWith('[') ? outer + inner : `${outer}.${inner}`
}

function judgeText(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain U+0000'
  return text.isWellFormed() ? undefined : 'must not contain half of a surrogate pair'
}
