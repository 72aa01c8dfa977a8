import type { Change } from '../../../../../versions/change.ts'

export default {
  id: 'name-weight',
  why: 'Weights say their unit.',
  lenses: [{ kind: 'rename', schemas: ['Parcel'], from: 'weight', to: 'weight_grams' }],
} satisfies Change
