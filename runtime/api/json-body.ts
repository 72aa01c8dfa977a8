import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { ApiError, unavailable } from './errors.ts'
import { BODY_LIMIT, bodyTooLarge, unsupportedMediaType } from './transport.ts'

/** Bytes that all bodies being read may take together: they are outside the heap, whose size is watched. */
const MAX_HELD = 256 * BODY_LIMIT

let held = 0

/** What still arrives belongs to this request, so the connection ends with the answer. */
function bodyTooSlow(): ApiError {
  return new ApiError(408, 'invalid_parameter', 'invalid_format', 'The body took too long to arrive.', {
    headers: ['Connection', 'close'],
  })
}

/**
 * Reads a body whole. Rejects with 413 when it grows too large, with 408 when it is not there in time, with 503 when all
 * that are being read grow too large together, and with the connection's error when that is lost.
 */
export function readBytes(request: IncomingMessage, timeoutMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let counted = 0
    const release = () => {
      clearTimeout(late)
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
      else if (held > MAX_HELD) giveUp(unavailable())
      else chunks.push(chunk)
    }
    const late = setTimeout(() => giveUp(bodyTooSlow()), timeoutMs)
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
