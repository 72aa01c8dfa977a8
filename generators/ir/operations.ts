/** Reads success responses of operations. */
import { isJson } from './media-type.ts'
import type { ApiContent, ApiOperation, Response } from './model.ts'

/** Returns the first success response, preferring a specific status over `2XX`. */
export function successOf({ responses }: ApiOperation): Response | undefined {
  const successes = responses.filter(({ status }) => /^2(?:\d\d|XX)$/i.test(status))
  return successes.find(({ status }) => /\d$/.test(status)) ?? successes[0]
}

/** Returns the success status that a server sends: 200 if the document has only `2XX`. */
export function successStatus(operation: ApiOperation): number {
  const { status } = successOf(operation) ?? {}
  return status === undefined || /XX$/i.test(status) ? 200 : Number(status)
}

/** Returns the JSON content of the success response. */
export const contentOf = (operation: ApiOperation | undefined): ApiContent | undefined =>
  operation && successOf(operation)?.contents.find(({ mediaType }) => isJson(mediaType))
