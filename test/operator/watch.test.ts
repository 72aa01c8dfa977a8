/** The files in deploy/ that watch the service agree with their table, and with the metrics that exist. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { WATCH_FILES } from '../../deploy/watch/write.ts'
import { createMetrics, type MetricSources } from '../../runtime/operator/metrics/metrics.ts'
import { shareRead } from '../../runtime/operator/metrics/shared-read.ts'

test.each(Object.entries(WATCH_FILES))('%s is up to date', (path, write) => {
  expect(readFileSync(path, 'utf8')).toBe(write())
})

const unread = () => {
  throw new Error('names are known without a read')
}

/** Names do not depend on values, so nothing is read. */
const SOURCES: MetricSources = {
  traffic: {},
  load: { overloaded: unread, delayMs: unread, heap: unread, stop: unread },
  limiter: unread,
  pools: {},
  unreadable: unread,
  deliveries: unread,
  wallets: unread,
  work: unread,
  pausedMembers: unread,
  requestLogs: {},
  droppedTouches: unread,
  setAside: unread,
  storageFull: unread,
  heldUpPayouts: unread,
  network: unread,
  isReady: unread,
  deployment: {
    queues: unread,
    databaseBytes: unread,
    replication: unread,
    archiver: unread,
    processorCertificates: unread,
  },
  verification: unread,
  certificates: [],
  dataDir: '/',
}

test('every metric is in a rule or in a panel, and both name only metrics that exist', () => {
  const metrics = createMetrics(SOURCES)
    .getMetricsAsArray()
    .map(({ name }) => name)
    .filter((name) => name.startsWith('svc_'))
  const watched = ['deploy/prometheus/alerts.yml', 'deploy/grafana/dashboard.json']
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')
  const named = [...watched.matchAll(/\bsvc_\w+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, ''))
  expect([...new Set(named)].sort()).toEqual(metrics.sort())
})

test('a scrape does not wait for a slow database, and does not ask it again meanwhile', async () => {
  let asked = 0
  const warn = () => {}
  const read = shareRead('queues', () => new Promise<never>(() => (asked += 1)), { warn }, 50)
  expect(await Promise.all([read(), read()])).toEqual([undefined, undefined])
  expect(await read()).toBeUndefined()
  expect(asked).toBe(1)
})
