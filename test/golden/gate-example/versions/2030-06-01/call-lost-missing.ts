import type { Change } from 'dateline/change'

export default {
  id: 'call-lost-missing',
  why: 'Lost parcels are called missing.',
  lenses: [
    { kind: 'values', schemas: ['Parcel'], property: 'state', rename: { lost: 'missing' }, merge: {} },
  ],
} satisfies Change
