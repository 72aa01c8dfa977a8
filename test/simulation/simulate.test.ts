/** The simulation itself: the same seed does the same twice, and a fault in the code is found. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { ROOT, startProgram } from '../support/programs.ts'
import { FAULTS_VARIABLE, type Replacement } from './mutants/replacement.ts'
import { SERVER_VARIABLE } from './server.ts'
import { FAULT_KINDS } from './weather.ts'

/** Both programs together take a few seconds; on a busy machine a minute is not enough. */
const PATIENCE_MS = 240_000

/** Each of these at least once. */
const KINDS = ['pass', 'install_pass', 'authorize', 'expire', 'bank_payout', 'usdc_payout']
/** Other tests use the server meanwhile. */
const FAULTS = FAULT_KINDS.filter((kind) => kind !== 'crash')
const SMALL = ['--seed', '4', '--tenants', '1', '--machines', '1', '--actions', '11', '--late', '20']

function simulate(faults: readonly Replacement[], ...words: readonly string[]) {
  const { url, template, pepper } = inject('testServer')
  const env = {
    [SERVER_VARIABLE]: JSON.stringify({ url, template, pepper }),
    [FAULTS_VARIABLE]: JSON.stringify(faults),
  }
  const own = ['--kinds', KINDS.join(','), '--faults', FAULTS.join(',')]
  const script = ['--import', './test/simulation/mutants/fault.ts', 'test/simulation/simulate.ts']
  return startProgram(process.execPath, [...script, ...SMALL, ...own, ...words], env).ended
}

/** Asks the bank for a cent too much. */
function plantFault(): Replacement {
  const file = 'runtime/money/payouts/bank-client.ts'
  const part = 'JSON.stringify({ amount,'
  const start = readFileSync(join(ROOT, file), 'utf8').indexOf(part)
  return { file, start, end: start + part.length, text: 'JSON.stringify({ amount: amount + 1,' }
}

test(
  'a seed is the same universe each time, and a planted fault in the code is found',
  async () => {
    const [repeated, planted] = await Promise.all([simulate([], '--repeat'), simulate([plantFault()])])
    expect(repeated).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^day 1: .* [1-9]\d* payments, [1-9]\d* USDC payments, [1-9]\d* passes on devices, [1-9]\d* authorizations, .*\nthe second run was the same\n$/,
      ),
    })
    expect(planted.code).toBe(1)
    expect(planted.stdout).toMatch(/seed 4: the bank paid \d+ for payout po_… of \d+\n$/)
  },
  PATIENCE_MS,
)
