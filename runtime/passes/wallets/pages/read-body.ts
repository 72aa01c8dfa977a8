import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../../api/errors/errors.ts'

/**
 * Reads a request body from a device or a wallet service as text. Throws `ApiError` 413 if it exceeds `most` bytes, and
 * then closes the connection after the response: the rest of the body stays unread, so the connection cannot be reused.
 */
export async function readBody(request: IncomingMessage, most: number): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  // The iterator must not destroy the request: the answer uses the same socket.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > most) {
      throw new ApiError(413, 'body_too_large', 'body_too_large', `The body is larger than ${most} bytes.`, {
        headers: ['Connection', 'close'],
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
