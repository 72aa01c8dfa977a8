import type { NextFunction, Request, Response } from 'express'
import type { Logger } from 'pino'
import { isUnavailable } from '../../database/errors.ts'
import { PasswordQueueFull } from '../../platform/passwords.ts'
import { sendPage, writeNotice } from './layout.ts'

export interface FailureParts {
  readonly log: Logger
}

/** @returns what Express calls with an error: a page for people. What was wrong stands in the log alone. */
export function answerFailures({ log }: FailureParts, what: string) {
  return (error: unknown, _request: Request, response: Response, _next: NextFunction): void => {
    if (response.headersSent) {
      log.error({ err: error }, what)
      response.destroy()
    } else if (isRefusedBody(error)) {
      sendPage(response, error.status, writeNotice('Not readable', 'The form did not arrive as it was sent.'))
    } else if (isUnavailable(error) || error instanceof PasswordQueueFull) {
      log.warn({ err: error }, 'the service cannot answer at the moment')
      response.set('Retry-After', '1')
      const text = 'The service cannot answer at the moment. Please try again.'
      sendPage(response, 503, writeNotice('Not now', text))
    } else {
      log.error({ err: error }, what)
      const text = 'It was on our side. Please try again.'
      sendPage(response, 500, writeNotice('Something went wrong', text))
    }
  }
}

/** Express could not read the path or the form. */
function isRefusedBody(error: unknown): error is { readonly status: number } {
  if (typeof error !== 'object' || error === null || !('status' in error)) return false
  return typeof error.status === 'number' && error.status >= 400 && error.status < 500
}
