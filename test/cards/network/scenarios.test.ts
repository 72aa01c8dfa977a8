/**
 * Random scenarios of network messages: delivered in order, and again reordered, repeated, late by days and decided by the
 * network's stand-in. Both lead to the same transactions, balances, holds, settlement lines and spending. `npm run
 * prove:network` tries 300.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { START, useService } from '../../support/service.ts'
import { type DrawnScenario, deliver, scenarios } from './deliveries.ts'
import { openIssuer, run, stateOf } from './network-runs.ts'
import { openTestNetwork } from './open-network.ts'

const RUNS = Number(process.env.NETWORK_SCENARIOS ?? 12)

const service = useService({ guarded: false, keepsTime: true })

async function expectConvergence(scenario: DrawnScenario): Promise<void> {
  const network = openTestNetwork(service)
  const states = []
  const traces = []
  for (const which of ['inOrder', 'disturbed'] as const) {
    const issuer = await openIssuer(service)
    const deliveries = deliver(scenario, issuer.numbers, START)[which]
    traces.push(await run(service, network, deliveries, which === 'inOrder' ? 1 : scenario.together))
    states.push(await stateOf(service, issuer))
  }
  if (process.env.NETWORK_TRACE) console.log(JSON.stringify(traces, null, 1))
  expect(states[1]).toEqual(states[0])
}

test(`${RUNS} scenarios end the same in order and disturbed`, { timeout: 3_600_000 }, async () => {
  const seed = process.env.NETWORK_SEED
  await fc.assert(fc.asyncProperty(scenarios, expectConvergence), {
    numRuns: RUNS,
    ...(seed !== undefined && { seed: Number(seed) }),
    endOnFailure: process.env.NETWORK_SHRINK === undefined,
  })
})
