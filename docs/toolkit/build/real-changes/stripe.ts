import type { RealChange } from './real-change.ts'

const vendor = 'Stripe'

/** From the changelog at docs.stripe.com/changelog. */
export const STRIPE: readonly RealChange[] = [
  {
    vendor,
    date: '2014-12-17',
    what: '`statement_description` of charges, invoices, plans and transfers became `statement_descriptor`.',
    schemas: `
 Charge:
   type: object
   properties:
     amount: { type: integer }
-    statement_description: { type: [string, "null"] }
+    statement_descriptor: { type: [string, "null"] }
`,
    lens: `v.rename(['Charge'], 'statement_description', 'statement_descriptor')`,
    values: [
      {
        old: { amount: 500, statement_description: 'BOOKS' },
        new: { amount: 500, statement_descriptor: 'BOOKS' },
      },
      { old: { statement_description: null }, new: { statement_descriptor: null } },
    ],
  },
  {
    vendor,
    date: '2015-02-18',
    what: 'The status of a charge that succeeds is `succeeded`, not `paid`.',
    schemas: `
 Charge:
   type: object
   properties:
-    status: { type: string, enum: [paid, failed] }
+    status: { type: string, enum: [succeeded, failed] }
`,
    use: 'response',
    lens: `v.valuesOf(['Charge'], 'status', { rename: { paid: 'succeeded' } })`,
    values: [{ old: { status: 'paid' }, new: { status: 'succeeded' } }],
  },
]
