import { ApiError } from './errors.ts'
import type { Exchange } from './exchange.ts'

/** The most bytes of a body that are read. */
export const BODY_LIMIT = 1024 * 1024

/** What is refused of any caller, before anything is read. */
export function limitTransport({ request }: Exchange): void {
  const { headers } = request
  if (Number(headers['content-length'] ?? 0) > BODY_LIMIT) throw bodyTooLarge()
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw unsupportedMediaType('Send the body as it is: compressed bodies are not read.')
  }
}

export function bodyTooLarge(): ApiError {
  return new ApiError(413, 'body_too_large', 'body_too_large', 'The body is larger than 1 MiB.')
}

export function unsupportedMediaType(message: string): ApiError {
  return new ApiError(415, 'unsupported_media_type', 'unsupported_media_type', message)
}
