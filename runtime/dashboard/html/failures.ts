import type { NextFunction, Request, Response } from 'express'
import type { Logger } from 'pino'
import { isUnavailable } from '../../database/errors.ts'
import { PasswordQueueFull } from '../../platform/passwords.ts'
import { isSpaceWiped } from '../../tenants/audit/queries.ts'
import { sendPage, writeNotice } from './layout.ts'

export interface FailureParts {
  readonly log: Logger
}

/** Returns an Express error handler that shows an error page. Details are written only to the log. */
export function answerFailures({ log }: FailureParts, what: string) {
  return (error: unknown, _request: Request, response: Response, _next: NextFunction): void => {
    if (response.headersSent) {
      log.error({ err: error }, what)
      response.destroy()
    } else if (isRefusedBody(error)) {
      sendPage(
        response,
        error.status,
        writeNotice('Invalid request', 'The form could not be read. Go back and submit it again.'),
      )
    } else if (isUnavailable(error) || isSpaceWiped(error) || error instanceof PasswordQueueFull) {
      log.warn({ err: error }, 'the service is temporarily unavailable')
      response.set('Retry-After', '1')
      const text = 'The service is temporarily unavailable. Try again in a moment.'
      sendPage(response, 503, writeNotice('Service unavailable', text))
    } else {
      log.error({ err: error }, what)
      const text = 'An internal error occurred. Try again in a moment.'
      sendPage(response, 500, writeNotice('Something went wrong', text))
    }
  }
}

/** Whether Express could not read the path or the form. */
function isRefusedBody(error: unknown): error is { readonly status: number } {
  if (typeof error !== 'object' || error === null || !('status' in error)) return false
  return typeof error.status === 'number' && error.status >= 400 && error.status < 500
}
