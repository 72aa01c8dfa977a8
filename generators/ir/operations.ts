/** Reading operations. */
import type { ApiOperation, Response } from './model.ts'

/** @returns the first answer of success: under a status of its own if there is one, otherwise `2XX`. */
export function successOf({ responses }: ApiOperation): Response | undefined {
  const successes = responses.filter(({ status }) => /^2(?:\d\d|XX)$/i.test(status))
  return successes.find(({ status }) => /\d$/.test(status)) ?? successes[0]
}

/** @returns the status that a server answers a success with: 200 if the document says `2XX` only. */
export function successStatus(operation: ApiOperation): number {
  const { status } = successOf(operation) ?? {}
  return status === undefined || /XX$/i.test(status) ? 200 : Number(status)
}
