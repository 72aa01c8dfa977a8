/** Faults that change nothing that a tenant or an operator can notice, with the reason. */
interface EquivalentFault {
  readonly file: string
  readonly what: string
  readonly reason: string
}

export const EQUIVALENT: readonly EquivalentFault[] = []
