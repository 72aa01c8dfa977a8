import type { Change } from 'dateline/change'

export default {
  id: 'rename-letter-states',
  why: 'Letters are no parcels: this document has none.',
  lenses: [
    { kind: 'values', schemas: ['Letter'], property: 'state', rename: { lost: 'missing' }, merge: {} },
  ],
} satisfies Change
