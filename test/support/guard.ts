import { expect } from 'vitest'
import { createContractGuard, type Disagreement } from './contract-guard.ts'

const disagreements: Disagreement[] = []
const failures: unknown[] = []

/** The second opinion on everything that the services of this test file answer. */
export const guard = createContractGuard(
  (disagreement) => disagreements.push(disagreement),
  (error) => failures.push(error),
)

/** Waits until what was answered has been checked, and fails where the checks disagree. */
export async function expectAgreement(): Promise<void> {
  await guard.settled()
  expect([disagreements.splice(0), failures.splice(0)]).toEqual([[], []])
}
