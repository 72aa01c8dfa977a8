import type { Change } from 'dateline/change'

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
