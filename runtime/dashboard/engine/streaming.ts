/** Long responses, which end early if the client disconnects. */
import { pipeline } from 'node:stream/promises'
import type { Response } from 'express'
import { codeOf } from '../../database/errors.ts'

/**
 * Sends texts at the pace of the client. Resolves if the client disconnects or the signal aborts. If the source fails, the connection is
 * broken, so that the client notices, and the error is thrown.
 */
export async function sendTexts(
  response: Response,
  texts: AsyncIterable<string>,
  signal = new AbortController().signal,
): Promise<void> {
  try {
    await pipeline(texts, response, { signal })
  } catch (error) {
    const isOver =
      codeOf(error) === 'ERR_STREAM_PREMATURE_CLOSE' ||
      (error instanceof Error && error.name === 'AbortError')
    if (!isOver) throw error
  }
}
