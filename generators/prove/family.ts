/** Everything that must hold of a family's translations. */
import fc from 'fast-check'
import type { Step } from '../gate/steps.ts'
import type { Domains } from './arbitrary.ts'
import type { Law } from './law.ts'
import { lawsOfStep } from './steps.ts'

/** @param steps oldest first. */
export function proveSteps(steps: readonly Step[]): Law[] {
  const domains: Domains = Object.fromEntries(
    steps
      .flatMap((step) => step.changes.flatMap((change) => Object.entries(change.values ?? {})))
      .flatMap(([component, values]) => (values ? [[component, fc.constantFrom(...values)]] : [])),
  )
  return steps.flatMap((step) => lawsOfStep(step, domains))
}
