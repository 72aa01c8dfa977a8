/** The two environments of the service. Their data is separate. */
export type Environment = 'sandbox' | 'live'

export const ENVIRONMENTS = ['sandbox', 'live'] as const satisfies readonly Environment[]
