import type { Change } from '../../../../../versions/change.ts'

export default {
  id: 'call-lost-missing',
  why: 'Lost parcels are called missing.',
  lenses: [
    { kind: 'values', schemas: ['Parcel'], property: 'state', rename: { lost: 'missing' }, merge: {} },
  ],
} satisfies Change
