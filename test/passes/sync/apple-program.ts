/** A worker of pushes, as a process of its own, so that it can be killed. */
import { createPrivateKey } from 'node:crypto'
import { pino } from 'pino'
import { openDatabase } from '../../../runtime/database/open/open-database.ts'
import { createDevices } from '../../../runtime/passes/passes/registrations.ts'
import { openPassTokens } from '../../../runtime/passes/wallets/render/pass-tokens.ts'
import { createApns } from '../../../runtime/passes/wallets/sync/apple/apns.ts'
import { fanOutToApple } from '../../../runtime/passes/wallets/sync/apple/fan-out.ts'
import { createAppleSender } from '../../../runtime/passes/wallets/sync/apple/sender.ts'
import { createUpdateWorker } from '../../../runtime/passes/wallets/sync/apple/worker.ts'
import { createClock } from '../../../runtime/tenants/clock/clock.ts'
import { createLeaseClock } from '../../../runtime/work/lease-clock.ts'
import { createSetAside } from '../../../runtime/work/set-aside.ts'

const { url, topic, key } = JSON.parse(process.env.APPLE!)
const database = await openDatabase({
  databaseUrl: process.env.DATABASE_URL!,
  pepper: process.env.SVC_PEPPER!,
  dataDir: '/nowhere',
  poolSize: 6,
  preparedStatements: true,
})
const clock = createClock()
const log = pino({ level: process.env.LOG_LEVEL ?? 'silent' }, pino.destination(2))
const pool = database.sandbox
const auth = { provider: { keyId: 'KEY', teamId: 'TEAM', key: createPrivateKey(key) } }
const apns = createApns({ url, topic, auth, now: clock.machine })
const devices = createDevices({
  environment: 'sandbox',
  pool,
  control: database.control,
  clock,
  baseUrls: { sandbox: '', live: '', console: '' },
  wakeUpChannel: { publish: () => {} },
  passTokens: openPassTokens(database.pepper),
})
createUpdateWorker({
  environment: 'sandbox',
  platform: 'apple',
  pool,
  leaseClock: createLeaseClock(pool, clock.machine),
  setAside: createSetAside({ control: database.control, clock, log }, 'apple_pushes', 'sandbox'),
  sender: createAppleSender({ db: pool, apns, devices, now: clock.machine, log }),
  fanOut: (space, lease) => fanOutToApple(pool, space, lease),
  log,
  leaseMs: 3000,
  pollMs: 50,
})
console.log('{"ready":true}')
