/** The simulation itself: the same seed does the same twice, and a fault in the code is found. */
import { expect, inject, test } from 'vitest'
import { startProgram } from '../support/programs.ts'
import { SERVER_VARIABLE } from './server.ts'

/** Both programs together take a few seconds; on a busy machine a minute is not enough. */
const PATIENCE_MS = 240_000

/** The actions of this seed: a bank payout, a pass, an authorization, an update, a USDC payout and an installation. */
const SMALL = ['--seed', '1121', '--tenants', '1', '--machines', '1', '--actions', '6', '--late', '20']

function simulate(options: readonly string[], ...words: readonly string[]) {
  const { url, template, pepper } = inject('testServer')
  const env = { [SERVER_VARIABLE]: JSON.stringify({ url, template, pepper }) }
  const script = 'test/simulation/simulate.ts'
  return startProgram(process.execPath, [...options, script, ...SMALL, ...words], env).ended
}

test(
  'a seed is the same universe each time, and a planted fault in the code is found',
  async () => {
    const [repeated, planted] = await Promise.all([
      simulate([], '--repeat'),
      simulate(['--import', './test/simulation/planted.ts']),
    ])
    expect(repeated).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^day 1: .*\b1 payments, 1 USDC payments, 1 passes on devices, 1 authorizations, .*\nthe second run was the same\n$/,
      ),
    })
    expect(planted.code).toBe(1)
    expect(planted.stdout).toMatch(/seed 1121: the bank paid \d+ for payout po_… of \d+\n$/)
  },
  PATIENCE_MS,
)
