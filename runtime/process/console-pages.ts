import { fileURLToPath } from 'node:url'
import express from 'express'
import { versions } from '../../generated/versions.ts'
import { createAuthorization } from '../dashboard/authorization/authorization.ts'
import { createChallenges } from '../dashboard/challenges.ts'
import { createConsole } from '../dashboard/console.ts'
import { addBanner } from '../dashboard/html/banner.ts'
import { createDashboard } from '../dashboard/pages/dashboard.ts'
import { SANDBOX_LOOKUPS } from '../dashboard/pages/pickers/lookup.ts'
import { createSessions } from '../dashboard/sign-in/sessions.ts'
import { createSignIn } from '../dashboard/sign-in/sign-in.ts'
import { createStatus } from '../dashboard/status/status.ts'
import { createJoin } from '../dashboard/team/join.ts'
import type { Observability } from '../operator/metrics/observability.ts'
import { createBarcodes } from '../passes/wallets/pages/barcodes.ts'
import { build } from '../platform/build.ts'
import { readTrust } from '../platform/client-address.ts'
import { deriveSecret } from '../platform/secrets.ts'
import type { Operator } from '../tenants/admin/change.ts'
import { createFactors } from '../tenants/factors/factors.ts'
import { createWrongCodes } from '../tenants/factors/wrong-codes.ts'
import type { RequestLimiter } from '../tenants/limits/limiter.ts'
import type { Apis } from './apis.ts'
import type { Foundation } from './foundation.ts'

/** Creates the pages of METRICS_PORT: `/metrics`, `/livez` and `/readyz`. */
export function createMetricsPages(observability: Observability): express.Express {
  const pages = express()
  pages.disable('x-powered-by')
  pages.use(observability.pages)
  pages.get('/livez', (_request, response) => void response.type('text').send('ok\n'))
  return pages
}

interface ConsoleParts extends Foundation {
  readonly operator: Operator
  readonly apis: Pick<Apis, 'operate' | 'dryRun' | 'streams'>
  readonly limiter: RequestLimiter
  /** Shown on every page. */
  readonly warnings: readonly string[]
}

/**
 * Creates the pages of the console port: metrics and status for operators; sign-in, confirmations and the dashboard for members;
 * consent for OAuth clients; and the documentation.
 */
export function createConsolePages(parts: ConsoleParts, observability: Observability): express.Express {
  const { settings, database, clock, baseUrls, log, limiter } = parts
  const pages = express()
  pages.disable('x-powered-by')
  pages.use(observability.pages)
  pages.use(createStatus({ settings, registry: observability.registry, log }))
  if (parts.warnings.length > 0) pages.use(addBanner(parts.warnings))
  const { control, pepper } = database
  const shared = {
    csrfKey: deriveSecret(pepper, 'forms of the console'),
    consoleUrl: baseUrls.console,
    proxies: readTrust(settings.trustedProxies),
    log,
  }
  const factors = createFactors(control, pepper, clock, observability.senderPaused)
  pages.use(createChallenges({ ...shared, factors }))
  const sessions = createSessions({ control, pepper, clock, secure: baseUrls.console.startsWith('https:') })
  const wrongCodes = createWrongCodes(control, clock, observability.senderPaused)
  pages.use(createSignIn({ ...shared, control, pepper, clock, wrongCodes, sessions }))
  const barcodes = createBarcodes()
  pages.use(createJoin({ ...shared, sessions, operator: parts.operator, barcodes }))
  pages.use(
    createAuthorization({
      ...shared,
      control,
      pepper,
      clock,
      sessions,
      limiter,
      wrongCodes,
      operator: parts.operator,
    }),
  )
  pages.use(
    createDashboard({
      ...shared,
      ...parts.apis,
      sessions,
      operator: parts.operator,
      wrongCodes,
      databases: database,
      apiUrls: baseUrls,
      barcodes,
      traceUrl: settings.traceUrl,
    }),
  )
  pages.use(
    createConsole({
      generated: fileURLToPath(new URL('../../generated', import.meta.url)),
      versions: versions.map(({ name }) => name),
      baseUrls,
      lookups: SANDBOX_LOOKUPS,
      build: () => build('site'),
      showsDesign: !settings.production,
    }),
  )
  return pages
}
