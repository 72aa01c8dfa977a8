/** The catalog of settings against the code that reads them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { listSettings } from '../../runtime/operator/settings.ts'
import { renderSettings } from '../../runtime/operator/settings-page.ts'
import {
  SETTING_GROUPS,
  type SettingEntry,
  type SettingVariables,
} from '../../runtime/platform/setting-catalog.ts'
import { readSettings } from '../../runtime/platform/settings.ts'

const entries = Object.values(SETTING_GROUPS).flatMap((group) => Object.entries<SettingEntry>(group))

/** The settings are read together with this file. */
const folder = mkdtempSync(join(tmpdir(), 'svc-settings-'))
afterAll(() => rmSync(folder, { recursive: true }))
const table = join(folder, 'interchange.json')
writeFileSync(table, JSON.stringify([{ id: 'all', basis_points: 100 }]))

const examples: Readonly<Record<string, string | undefined>> = {
  ...Object.fromEntries(entries.map(([name, { example }]) => [name, example])),
  SVC_INTERCHANGE_TABLE: table,
}

/** Variables that are set together. */
const TOGETHER: readonly (readonly string[])[] = [
  ['TLS_CERT', 'TLS_KEY'],
  ['DATABASE_URL', 'SVC_PEPPER', 'DATABASE_LISTEN_URL'],
  ['APPLE_PASS_CERTIFICATE', 'APPLE_PASS_KEY', 'APPLE_PASS_WWDR'],
  ['APPLE_PASS_CERTIFICATE', 'APPLE_PASS_KEY', 'APPLE_PASS_WWDR', 'APPLE_PASS_KEY_PASSWORD'],
  ['APPLE_PASS_CERTIFICATE', 'APPLE_PASS_KEY', 'APPLE_PASS_WWDR', 'APPLE_PASS_TYPE', 'APPLE_PASS_TEAM'],
  ['APPLE_PUSH_KEY', 'APPLE_PUSH_KEY_ID'],
  ['GOOGLE_WALLET_ISSUER', 'GOOGLE_WALLET_SERVICE_ACCOUNT'],
  ['NETWORK_TLS_CERT', 'NETWORK_TLS_KEY'],
  ['SVC_BANK_URL', 'SVC_BANK_TOKEN'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_HEADERS'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_SERVICE_NAME'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_TRACES_SAMPLER_ARG'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'SVC_TRACE_CALLERS_PER_SECOND'],
  ['SVC_CHAIN_RPC_URL', 'SVC_USDC_ADDRESS', 'SVC_PAYOUT_KEY'],
  ['SVC_PAYOUT_SIGNER_URL', 'SVC_PAYOUT_SIGNER_TOKEN'],
]

function outcomeOf(env: SettingVariables): unknown {
  try {
    return readSettings(env)
  } catch (error) {
    return error
  }
}

describe('the catalog of settings', () => {
  test('docs/settings.md is what the catalog says', () => {
    expect(readFileSync('docs/settings.md', 'utf8')).toBe(renderSettings())
  })

  test.each(entries.filter(([, { fallback }]) => fallback !== undefined))(
    '%s has the default that the catalog names',
    (name, { fallback }) => {
      // Named, because NETWORK_PORT adds a role.
      const roles = ['api', 'worker', 'console', 'network', 'reveal']
      expect(readSettings({ [name]: fallback }, { roles })).toEqual(readSettings({}, { roles }))
    },
  )

  test.each(entries.filter(([name]) => name !== 'NODE_ENV'))(
    'the example of %s is accepted and has an effect',
    (name) => {
      const names = TOGETHER.find((each) => each.includes(name)) ?? [name]
      const env = Object.fromEntries(names.map((each) => [each, examples[each]]))
      const settings = readSettings(env)
      expect(outcomeOf({ ...env, [name]: '' })).not.toEqual(settings)
    },
  )
})

test('admin settings shows where each value comes from, and no secret', () => {
  const file = join(folder, 'pepper')
  writeFileSync(file, 'a pepper in a file\n')
  const env = { SVC_PEPPER_FILE: file, SVC_BANK_TOKEN: 'a token', HOST: '::', LOG_LEVEL: '' }
  const { data } = listSettings(env)
  const shown = Object.fromEntries(data.map(({ name, value, source }) => [name, [value, source]]))
  expect(shown).toMatchObject({
    SVC_PEPPER: ['hidden', file],
    SVC_BANK_TOKEN: ['hidden', 'variable'],
    HOST: ['::', 'variable'],
    LOG_LEVEL: ['info', 'default'],
    REDIS_URL: [null, null],
  })
  expect(data).toHaveLength(entries.length)
  expect(JSON.stringify(data)).not.toMatch(/a pepper in a file|a token/)
})
