import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { ensureBuilt } from 'dateline/build'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../runtime/database/migrate/migrate.ts'
import { ADDRESSES, administer, PEPPER } from '../support/server.ts'
import { ask, createClusterDatabase, listServers, sealDatabase, startCluster } from './cluster.ts'

async function openServers(): Promise<{ servers: readonly string[]; stop: () => Promise<void> }> {
  const { SVC_CITUS_URL: url, SVC_CITUS_BIN: bin } = process.env
  if (url) return { servers: await listServers(url), stop: async () => {} }
  const cluster = await startCluster(bin!)
  return { servers: [cluster.coordinator, ...cluster.workers].map((node) => node.url), stop: cluster.stop }
}

/** Once per run: a cluster, and on it the distributed database that every test file copies, server by server. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await ensureBuilt(join(import.meta.dirname, '../../dateline.config.json'))
  const { servers, stop } = await openServers()
  const template = `svc_test_${randomBytes(4).toString('hex')}`
  try {
    const url = await createClusterDatabase(servers, template)
    await migrate({ connectionString: url }, PEPPER, { citus: true })
    await administer(url, ADDRESSES)
    await sealDatabase(servers, template)
  } catch (error) {
    await stop()
    throw error
  }
  project.provide('testServer', { url: servers[0]!, servers, template, strategy: '', pepper: PEPPER })
  return async () => {
    for (const server of servers) await ask(server, `DROP DATABASE ${template} WITH (FORCE)`)
    await stop()
  }
}
