import type { Change } from 'dateline/change'

export default {
  id: 'name-units',
  why: 'Weights say their unit.',
  lenses: [{ kind: 'rename', schemas: ['Parcel'], from: 'weight', to: 'weight_grams' }],
} satisfies Change
