/** Everything that must hold of a family's translations. */
import fc from 'fast-check'
import type { VersionPair } from '../gate/steps.ts'
import type { Domains } from './arbitrary.ts'
import type { Law } from './law.ts'
import { lawsOfStep } from './steps.ts'

/** @param steps oldest first. */
export function proveSteps(steps: readonly VersionPair[]): Law[] {
  const domains = domainsOf(steps)
  return steps.flatMap((step) => lawsOfStep(step, domains))
}

/** @returns values that mean something, as changes of any version name them, by component. */
export function domainsOf(steps: readonly VersionPair[]): Domains {
  return Object.fromEntries(
    steps
      .flatMap((step) => step.changes.flatMap((change) => Object.entries(change.values ?? {})))
      .flatMap(([component, values]) =>
        values && values.length > 0 ? [[component, fc.constantFrom(...values)]] : [],
      ),
  )
}
