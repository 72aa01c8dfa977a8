import type { Change } from 'dateline/change'

export default {
  id: 'name-units',
  why: 'Weights say their unit.',
  lenses: [{ kind: 'rename', schemas: ['Parcel'], from: 'weight', to: 'weight_grams' }],
  examples: [
    { schema: 'Parcel', old: { id: 'p1', weight: 'heavy' }, new: { id: 'p1', weight_grams: 900 } },
    { schema: 'Parcel', old: { id: 'p1', weight: 900 }, new: { id: 'p1', weight_grams: 901 } },
  ],
} satisfies Change
