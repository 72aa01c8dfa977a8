import { expect } from 'vitest'
import { createContractGuard, type Disagreement } from './contract-guard.ts'

const disagreements: Disagreement[] = []
const failures: unknown[] = []

/** Validates everything that the services of this test file answer. */
export const guard = createContractGuard(
  (disagreement) => disagreements.push(disagreement),
  (error) => failures.push(error),
)

/** Waits until all responses have been validated, and fails if the validator disagrees with the service. */
export async function expectAgreement(): Promise<void> {
  await guard.settled()
  expect([disagreements.splice(0), failures.splice(0)]).toEqual([[], []])
}
