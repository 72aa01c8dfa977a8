/**
 * Random scenarios of network messages: delivered in order, and again reordered, repeated, late by days and decided by the
 * network's stand-in. Both lead to the same transactions, balances, holds, settlement lines and spending. `npm run
 * prove:network` tries 300.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type SettlementReportRow,
  settle,
} from '../../../runtime/cards/network-simulator/settlement-report.ts'
import { START, useService } from '../../support/service.ts'
import { CARDS, type Delivery, type DrawnScenario, deliver, scenarios } from './deliveries.ts'
import { isFiled, openIssuer, run, stateOf } from './network-runs.ts'
import { openTestNetwork } from './open-network.ts'

const RUNS = Number(process.env.NETWORK_SCENARIOS ?? 12)

const service = useService({ guarded: false, keepsTime: true })

const PLAIN = CARDS.map((_, index) => `400000000000000${index}`)

/** What the network's settlement report says of deliveries. */
function settledBy(deliveries: readonly Delivery[]) {
  const filed = deliveries.map(({ sent }) => sent).filter(isFiled)
  const rows = settle('sandbox', { interchange: 150, networkFee: 10 }, filed)
  if (rows.length === 0) return [{ transactions: null, interchange: null, fees: null, net: null }]
  const sum = (of: (row: SettlementReportRow) => number) => rows.reduce((total, row) => total + of(row), 0)
  const [interchange, fees] = [sum((row) => row.interchange_amount), sum((row) => row.fees_amount)]
  const transactions = sum((row) => row.refunds_amount - row.clearings_amount)
  return [{ transactions, interchange, fees, net: interchange - fees }]
}

async function expectConvergence(scenario: DrawnScenario): Promise<void> {
  const network = openTestNetwork(service)
  const states = []
  const traces = []
  for (const which of ['inOrder', 'disturbed'] as const) {
    const issuer = await openIssuer(service)
    const deliveries = deliver(scenario, issuer.numbers, START)[which]
    const disturbance = which === 'inOrder' ? {} : scenario
    traces.push(await run(service, network, deliveries, disturbance))
    states.push(await stateOf(service, issuer))
  }
  expect(states[0]!.totals).toEqual(settledBy(deliver(scenario, PLAIN, START).inOrder))
  expect(states[1], traces.map((each) => each.join('\n')).join('\n\n')).toEqual(states[0])
}

test(`${RUNS} scenarios end the same in order and disturbed`, { timeout: 3_600_000 }, async () => {
  const seed = process.env.NETWORK_SEED
  await fc.assert(fc.asyncProperty(scenarios, expectConvergence), {
    numRuns: RUNS,
    ...(seed !== undefined && { seed: Number(seed) }),
    // Shrinking takes minutes: `NETWORK_SHRINK=1 NETWORK_SEED=… npm run prove:network`.
    endOnFailure: process.env.NETWORK_SHRINK === undefined,
  })
})
