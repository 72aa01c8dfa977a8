/** The route `/status` for operators. */
import express, { type Router } from 'express'
import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { examine } from '../../operator/doctor/examine.ts'
import { requireToken } from '../../operator/metrics/access.ts'
import type { Settings } from '../../platform/settings.ts'
import { sendPage, writeNotice } from '../html/layout.ts'
import { readMetrics } from './metric-readings.ts'
import { writeStatusPage } from './status-page.ts'

export interface StatusParts {
  readonly settings: Settings
  readonly registry: Registry
  readonly log: Logger
}

/** `doctor` opens connections and asks external systems, so its result is shared for this long. */
const VALID_MS = 15_000

/**
 * Returns the route. It requires SVC_OPERATOR_TOKEN. Without the token, only development has the page, because findings
 * name hosts and payouts.
 */
export function createStatus({ settings, registry, log }: StatusParts): Router {
  const router = express.Router({ caseSensitive: true, strict: true })
  const { operatorToken: token, production } = settings
  if (token === undefined && production) return router
  let examined: { readonly at: number; readonly findings: ReturnType<typeof examine> } | undefined
  const diagnose = () => {
    const now = Date.now()
    if (!examined || now - examined.at > VALID_MS) examined = { at: now, findings: examine(settings) }
    return examined
  }
  router.get('/status', ...(token === undefined ? [] : [requireToken(token)]), async (_request, response) => {
    try {
      const { at, findings } = diagnose()
      const [found, readings] = await Promise.all([findings, readMetrics(registry)])
      const status = { findings: found, examinedAt: at, readings, roles: [...settings.roles] }
      sendPage(response, 200, writeStatusPage(status))
    } catch (err) {
      examined = undefined
      log.error({ err }, 'The page /status failed')
      sendPage(response, 500, writeNotice('Status', 'The status cannot be read. The log has the reason.'))
    }
  })
  return router
}
