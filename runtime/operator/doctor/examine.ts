import type { Settings } from '../../platform/settings.ts'
import { checkAppleWallet } from './apple.ts'
import { checkBank } from './bank.ts'
import { checkChain } from './chain.ts'
import { checkDatabase } from './database.ts'
import { type Finding, ok, warn } from './finding.ts'
import { checkGoogle } from './google.ts'
import { checkPorts, checkTls } from './network.ts'
import { checkRedis } from './redis.ts'
import { checkSanctions } from './sanctions.ts'

const OLDEST_NODE = 24

function checkNode(): Finding {
  const words = `${process.version} on ${process.platform} ${process.arch}`
  if (Number.parseInt(process.versions.node, 10) >= OLDEST_NODE) return ok('Node', words)
  return warn('Node', `${words}: version ${OLDEST_NODE} or newer is required`)
}

/** Checks everything that a service with these settings depends on. Changes and starts nothing. */
export async function examine(settings: Settings): Promise<Finding[]> {
  const [database, redis, ports, chain, bank] = await Promise.all([
    checkDatabase(settings),
    checkRedis(settings),
    checkPorts(settings),
    checkChain(settings),
    checkBank(settings),
  ])
  return [
    checkNode(),
    ok('settings', settings.production ? 'for production' : 'for development'),
    ...database,
    redis,
    checkAppleWallet(settings, Date.now()),
    checkGoogle(settings),
    ...chain,
    bank,
    await checkSanctions(settings),
    ...checkTls(settings, Date.now()),
    ...ports,
  ]
}
