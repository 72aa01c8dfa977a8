import type { Change } from '../../../../../versions/change.ts'

export default {
  id: 'merge-losses',
  why: 'Lost parcels are called missing.',
  lenses: [
    {
      kind: 'values',
      schemas: ['Parcel'],
      property: 'state',
      rename: { lost: 'missing', stolen: 'missing' },
      merge: {},
    },
  ],
} satisfies Change
