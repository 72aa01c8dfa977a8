/** What the console's port answers. */
import { fileURLToPath } from 'node:url'
import express from 'express'
import { versions } from '../../generated/versions.ts'
import type { Operator } from '../admin/change.ts'
import { createAuthorization } from '../console/authorization/authorization.ts'
import { createChallenges } from '../console/challenges.ts'
import { createConsole } from '../console/console.ts'
import { createDashboard } from '../console/dashboard/dashboard.ts'
import { addBanner } from '../console/page/banner.ts'
import { createSessions } from '../console/sign-in/sessions.ts'
import { createSignIn } from '../console/sign-in/sign-in.ts'
import { createJoin } from '../console/team/join.ts'
import { createBarcodes } from '../holders/barcodes.ts'
import type { Observability } from '../observability/observability.ts'
import { readTrust } from '../platform/client-address.ts'
import { createFactors } from '../platform/factors/factors.ts'
import { createWrongCodes } from '../platform/factors/wrong-codes.ts'
import type { RequestLimiter } from '../platform/limits/limiter.ts'
import { deriveSecret } from '../platform/secrets.ts'
import type { Apis } from './apis.ts'
import { build } from './build.ts'
import type { Foundation } from './foundation.ts'

interface ConsoleParts extends Foundation {
  readonly operator: Operator
  readonly apis: Pick<Apis, 'operate' | 'replayRead' | 'streams'>
  readonly limiter: RequestLimiter
}

/** What the console's port answers: to those who run the service, to members who confirm requests, sign in and work, and to readers. */
export function createConsolePages(parts: ConsoleParts, observability: Observability): express.Express {
  const { settings, database, clock, baseUrls, log, limiter } = parts
  const pages = express()
  pages.disable('x-powered-by')
  pages.use(observability.pages)
  if (parts.chains.warnings.length > 0) pages.use(addBanner(parts.chains.warnings))
  const { control, pepper } = database
  const shared = {
    csrfKey: deriveSecret(pepper, 'forms of the console'),
    consoleUrl: baseUrls.console,
    proxies: readTrust(settings.trustedProxies),
    log,
  }
  const factors = createFactors(control, pepper, clock, observability.memberPaused)
  pages.use(createChallenges({ ...shared, factors }))
  const sessions = createSessions({ control, pepper, clock, secure: baseUrls.console.startsWith('https:') })
  const wrongCodes = createWrongCodes(control, clock, observability.memberPaused)
  pages.use(createSignIn({ ...shared, control, pepper, clock, wrongCodes, sessions }))
  const barcodes = createBarcodes()
  pages.use(createJoin({ ...shared, sessions, operator: parts.operator, barcodes }))
  pages.use(createAuthorization({ ...shared, control, pepper, clock, sessions, limiter }))
  pages.use(
    createDashboard({
      ...shared,
      ...parts.apis,
      sessions,
      operator: parts.operator,
      wrongCodes,
      databases: database,
      barcodes,
    }),
  )
  pages.use(
    createConsole({
      generated: fileURLToPath(new URL('../../generated', import.meta.url)),
      documents: fileURLToPath(new URL('../../openapi', import.meta.url)),
      versions: versions.map(({ name }) => name),
      consoleUrl: baseUrls.console,
      sandboxUrl: baseUrls.sandbox,
      build: () => build('site'),
    }),
  )
  return pages
}
