/** Collects all laws of a family's translations. */
import fc from 'fast-check'
import type { VersionPair } from '../gate/steps.ts'
import type { Domains } from '../values/arbitrary.ts'
import type { Law } from './law.ts'
import { lawsOfStep } from './steps.ts'

/**
 * Returns the laws of all version pairs.
 *
 * @param steps oldest first.
 */
export function proveSteps(steps: readonly VersionPair[]): Law[] {
  const domains = domainsOf(steps)
  return steps.flatMap((step) => lawsOfStep(step, domains))
}

/** Returns the meaningful values that changes of any version list, by component. */
export function domainsOf(steps: readonly VersionPair[]): Domains {
  return Object.fromEntries(
    steps
      .flatMap((step) => step.changes.flatMap((change) => Object.entries(change.values ?? {})))
      .flatMap(([component, values]) =>
        values && values.length > 0 ? [[component, fc.constantFrom(...values)]] : [],
      ),
  )
}
