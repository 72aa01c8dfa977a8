import type { Change } from '../../../../../versions/change.ts'

export default {
  id: 'rename-letter-states',
  why: 'Letters are no parcels: this document has none.',
  lenses: [
    { kind: 'values', schemas: ['Letter'], property: 'state', rename: { lost: 'missing' }, merge: {} },
  ],
} satisfies Change
