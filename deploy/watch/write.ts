/** `npm run deploy:watch` writes the rules, their tests, the dashboard and the runbook; `--check` compares them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { writeDashboard } from './dashboard.ts'
import { writeRules, writeRuleTests } from './rules.ts'
import { writeRunbook } from './runbook.ts'

/** The generated files by path from the root. */
export const WATCH_FILES: Readonly<Record<string, () => string>> = {
  'deploy/prometheus/alerts.yml': () => writeRules(),
  'deploy/prometheus/rules.test.yml': writeRuleTests,
  'deploy/grafana/dashboard.json': writeDashboard,
  'docs/operations/slo.md': writeRunbook,
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined // written below, or reported by --check
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
  for (const [path, write] of Object.entries(WATCH_FILES)) {
    const text = write()
    if (read(path) === text) continue
    if (values.check) {
      console.error(`${path} is not up to date: run npm run deploy:watch`)
      process.exitCode = 1
      continue
    }
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    console.log(path)
  }
}
