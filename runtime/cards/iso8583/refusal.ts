/** Messages that the dialect allows, but that cannot be answered with a decision. */

/** Response codes of refusals: a missing or invalid field, and a kind of transaction that is not supported. */
const REFUSALS = { FORMAT: '30', UNSUPPORTED: '12' } as const

export class IsoRefusal extends Error {
  override name = 'IsoRefusal'
  /** Response code for field 39. */
  readonly responseCode: string

  constructor(reason: keyof typeof REFUSALS, issue: string) {
    super(issue)
    this.responseCode = REFUSALS[reason]
  }
}

/** @param issue names fields, without their values. */
export function refuse(reason: keyof typeof REFUSALS, issue: string): never {
  throw new IsoRefusal(reason, issue)
}
