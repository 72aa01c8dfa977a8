/** A Prometheus with the rules of the service, all of whose durations are shorter. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { writeRules } from '../../../deploy/watch/rules.ts'
import { startProgram, until } from '../../support/programs.ts'

export interface TestPrometheus {
  /** Names of the alerts that fire. */
  firing(): Promise<ReadonlySet<string>>
  /** Replaces the processes that are scraped. @param urls by instance name. */
  watch(urls: Readonly<Record<string, string>>): void
}

interface AlertsAnswer {
  readonly data: {
    readonly alerts: readonly { readonly state: string; readonly labels: { readonly alertname: string } }[]
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port')
  return address.port
}

/** @param divisor of all durations of the rules. */
export async function startPrometheus(folder: string, divisor: number): Promise<TestPrometheus> {
  mkdirSync(folder, { recursive: true })
  const targets = join(folder, 'targets.json')
  writeFileSync(targets, '[]')
  writeFileSync(join(folder, 'alerts.yml'), writeRules(divisor))
  const config = {
    // A scrape takes 2 s while the database does not respond.
    global: { scrape_interval: '3s', scrape_timeout: '3s', evaluation_interval: '1s' },
    rule_files: ['alerts.yml'],
    scrape_configs: [
      {
        job_name: 'dateline',
        file_sd_configs: [{ files: [targets], refresh_interval: '1s' }],
        relabel_configs: [{ source_labels: ['name'], target_label: 'instance' }],
      },
    ],
  }
  writeFileSync(join(folder, 'prometheus.yml'), stringify(config))
  const address = `127.0.0.1:${await freePort()}`
  const program = startProgram(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'series')}`,
      `--web.listen-address=${address}`,
      '--log.level=warn',
    ],
    {},
  )
  await until('Prometheus', async () => {
    const ready = await fetch(`http://${address}/-/ready`).catch(() => undefined)
    if (program.child.exitCode !== null) throw new Error(program.stderr())
    return ready?.ok
  })
  return {
    watch: (urls) => {
      const groups = Object.entries(urls).map(([name, url]) => ({
        targets: [new URL(url).host],
        labels: { name },
      }))
      writeFileSync(targets, JSON.stringify(groups))
    },
    async firing() {
      const response = await fetch(`http://${address}/api/v1/alerts`)
      const { data } = (await response.json()) as AlertsAnswer
      return new Set(
        data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname),
      )
    },
  }
}
