/** Two services in one, with data of their own. */
export type Environment = 'sandbox' | 'live'

export const ENVIRONMENTS = ['sandbox', 'live'] as const satisfies readonly Environment[]
