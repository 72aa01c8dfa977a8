/** The files in deploy/ that watch the service agree with their table, and with the metrics that exist. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { afterEach, describe, expect, test } from 'vitest'
import { WATCH_FILES } from '../../deploy/watch/write.ts'
import { createStatus } from '../../runtime/dashboard/status/status.ts'
import { createMetrics, type MetricSources } from '../../runtime/operator/metrics/metrics.ts'
import { createObservabilityPages } from '../../runtime/operator/metrics/pages.ts'
import { shareRead } from '../../runtime/operator/metrics/shared-read.ts'
import type { SettingVariables } from '../../runtime/platform/setting-catalog.ts'
import { readSettings } from '../../runtime/platform/settings.ts'

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
    closedByMoves: unread,
    verifications: unread,
  },
  certificates: () => [],
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

describe('with SVC_OPERATOR_TOKEN', () => {
  const TOKEN = 'a token of operators'
  let server: Server
  const open = async (env: SettingVariables, production = false) => {
    const registry = new Registry()
    const settings = { ...readSettings({ DATA_DIR: '/nowhere', ...env }), production }
    const token = settings.operatorToken
    const log = pino({ level: 'silent' })
    const pages = express()
      .use(createObservabilityPages({ registry, isReady: async () => true, token }))
      .use(createStatus({ settings, registry, log }))
    server = createServer(pages)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    return async (path: string, authorization?: string) => {
      const headers = authorization === undefined ? {} : { Authorization: authorization }
      return fetch(`http://127.0.0.1:${port}${path}`, { headers })
    }
  }
  afterEach(() => void server.close())
  const basic = (token: string) => `Basic ${btoa(`any:${token}`)}`

  test('metrics and the status page require it, readiness does not', async () => {
    const ask = await open({ SVC_OPERATOR_TOKEN: TOKEN })
    for (const path of ['/metrics', '/status']) {
      for (const wrong of [undefined, '', 'Bearer', `Bearer ${TOKEN}x`, basic(''), `Digest ${TOKEN}`]) {
        const { status, headers } = await ask(path, wrong)
        expect([path, wrong, status, headers.get('WWW-Authenticate')]).toEqual([
          path,
          wrong,
          401,
          'Basic realm="operators", charset="UTF-8"',
        ])
      }
      expect((await ask(path, basic(TOKEN))).status).toBe(200)
    }
    expect((await ask('/metrics', `Bearer ${TOKEN}`)).status).toBe(200)
    expect((await ask('/readyz')).status).toBe(200)
  })

  test('without it, metrics are open, and only development has the status page', async () => {
    const ask = await open({})
    expect([(await ask('/metrics')).status, (await ask('/status')).status]).toEqual([200, 200])
    server.close()
    const inProduction = await open({}, true)
    expect([(await inProduction('/metrics')).status, (await inProduction('/status')).status]).toEqual([
      200, 404,
    ])
  })
})
