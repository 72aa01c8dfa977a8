import express from 'express'
import { current, versions } from '../../generated/versions.ts'
import { readTrust } from '../api/address.ts'
import { createAdmission } from '../api/admission.ts'
import { createChallenges } from '../console/challenges.ts'
import { createConsole } from '../console/console.ts'
import { readReferences } from '../console/pages.ts'
import { openDelivery } from '../delivery/open-delivery.ts'
import { keepRetaining } from '../delivery/retention-job.ts'
import { createHints } from '../events/hints.ts'
import { connectNotices } from '../events/notices.ts'
import { createOperations, type Operations } from '../observability/operations.ts'
import { openOutbound } from '../outbound/open-outbound.ts'
import { createFactors } from '../platform/factors/factors.ts'
import { createPresence } from '../platform/fairness/presence.ts'
import { createKeyring } from '../platform/keys/keyring.ts'
import { openLimiter } from '../platform/limits/open-limiter.ts'
import { deriveSecret } from '../platform/secrets.ts'
import { createUsageMeter, keepUsage } from '../platform/usage/meter.ts'
import { keepWiping } from '../resources/account/wipe-job.ts'
import { keepExpiring } from '../resources/passes/expiry-job.ts'
import { createWallet, openGoogleSigner } from '../wallet/google.ts'
import { createApi, createLoggedGuard, type Deps } from './app.ts'
import { keepSweeping } from './cleanup-job.ts'
import type { Handlers, Parts } from './service.ts'

function createConsolePages(
  { settings, database, clock, baseUrls, log }: Parts,
  operations: Operations,
): express.Express {
  const pages = express()
  pages.disable('x-powered-by')
  pages.use(operations.pages)
  pages.use(
    createChallenges({
      factors: createFactors(database.control, database.pepper, clock, operations.memberPaused),
      csrfKey: deriveSecret(database.pepper, 'forms of the console'),
      consoleUrl: baseUrls.console,
      proxies: readTrust(settings.trustedProxies),
      log,
    }),
  )
  pages.use(createConsole({ references: readReferences(versions.map(({ name }) => name)), current }))
  return pages
}

/** What a worker does beside answering: it delivers, expires, and lets go of what has been kept long enough. */
function openWork(parts: Parts, outside: Pick<Deps, 'outbound' | 'hints' | 'notices'>) {
  const { settings, database, clock, baseUrls, log } = parts
  const delivery = openDelivery({ ...parts, ...outside })
  const chores = [
    keepSweeping(database, clock, log),
    keepExpiring({ database, clock, baseUrls, notices: outside.notices }, log),
    keepRetaining({ control: database.control, clock, log, days: settings.eventDays }),
    keepWiping({ database, clock }, log),
  ]
  const stop = async () => {
    await Promise.all([delivery, ...chores].map((each) => each.stop()))
  }
  return { workers: delivery.workers, stop }
}

/** Builds what answers on the listeners of this process's roles from what the process has opened. */
export async function createApplications(parts: Parts): Promise<Handlers> {
  const { settings, database, clock, log, baseUrls } = parts
  const { roles } = settings
  const { limiter, state, close } = await openLimiter(settings, database.pepper, log)
  const hints = createHints()
  const notices = connectNotices(database.control, hints)
  const outbound = openOutbound(settings)
  const work = roles.has('worker') ? openWork(parts, { outbound, hints, notices }) : undefined
  const operations = createOperations({ ...parts, limiter: state, deliveries: () => work?.workers ?? {} })
  const keyring = createKeyring(database.control, database.pepper)
  const usage = createUsageMeter(database, clock)
  const presence = createPresence()
  const deps: Deps = {
    settings,
    database,
    clock,
    keyring,
    limiter,
    admission: createAdmission(presence),
    wallet: createWallet(openGoogleSigner(settings), clock, presence),
    log,
    baseUrls,
    outbound,
    hints,
    notices,
    isLeaving: parts.isLeaving,
    guard: settings.contractGuard ? createLoggedGuard(log) : undefined,
    usage,
    operations,
  }
  const counting = keepUsage(usage, log)
  return {
    sandbox: roles.has('api') ? createApi(deps, 'sandbox') : undefined,
    live: roles.has('api') ? createApi(deps, 'live') : undefined,
    console: roles.has('console') ? createConsolePages(parts, operations) : undefined,
    forget: () => keyring.forget(),
    close: async () => {
      operations.stop()
      await Promise.all([
        close(),
        counting
          .stop()
          .catch((err) => log.error({ err }, 'the usage of the last seconds could not be added')),
        work?.stop(),
      ])
      for (const each of Object.values(outbound)) each.close()
    },
  }
}
