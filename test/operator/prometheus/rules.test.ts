/** Prometheus accepts the rules and the queries of the dashboard, and the rules fire as their tests say. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { PANEL_ROWS } from '../../../deploy/watch/panels.ts'
import { writeRules } from '../../../deploy/watch/rules.ts'

const folder = mkdtempSync(join(tmpdir(), 'svc-rules-'))
afterAll(() => rmSync(folder, { recursive: true }))

const promtool = (...words: readonly string[]) =>
  execFileSync('promtool', words, { encoding: 'utf8', cwd: folder })

const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return name
}

test('each rule fires for its broken series, and none for healthy ones', () => {
  const tests = join(import.meta.dirname, '../../../deploy/prometheus/rules.test.yml')
  expect(promtool('test', 'rules', tests)).toContain('SUCCESS')
})

test('rules with shorter durations, and the queries of the dashboard, are valid', () => {
  const queries = PANEL_ROWS.flatMap(({ panels }) => panels.flatMap((panel) => panel.queries))
  const rules = queries.map(([expr], at) => ({
    record: `query_${at}`,
    expr: expr.replaceAll('$__rate_interval', '5m'),
  }))
  const files = [
    write('short.yml', writeRules(60)),
    write('queries.yml', stringify({ groups: [{ name: 'queries', rules }] })),
  ]
  expect(promtool('check', 'rules', ...files)).toContain(`${rules.length} rules found`)
})
