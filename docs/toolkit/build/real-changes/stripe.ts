import type { RealChange } from './real-change.ts'

const vendor = 'Stripe'

/**
 * From the changelog at docs.stripe.com/changelog. Also: docs.stripe.com/transfer-payout-split and stripe/stripe-dotnet#2276 for the events of
 * 2017-04-06, docs.stripe.com/connect/required-updates/accounts-arguments for the new names of 2019-02-19, docs.stripe.com/upgrades/manage-payment-methods
 * for 2023-08-16.
 */
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
  {
    vendor,
    date: '2012-03-25',
    what: 'Customers no longer include `next_recurring_charge`.',
    reason: 'The amount and date follow from the subscription; no property of the new customer holds them.',
  },
  {
    vendor,
    date: '2013-07-05',
    what: 'A customer has a list of `cards` and a `default_card`, instead of one `active_card`.',
    note: 'Old callers see only the default card.',
    schemas: `
 Customer:
   type: object
-  required: [active_card]
+  required: [cards, default_card]
   properties:
-    active_card:
-      oneOf: [{ $ref: "#/components/schemas/Card" }, { type: "null" }]
+    cards:
+      type: object
+      required: [data]
+      properties:
+        data: { type: array, items: { $ref: "#/components/schemas/Card" } }
+    default_card: { type: [string, "null"] }
 Card:
   type: object
   required: [id, last4]
   properties:
     id: { type: string }
     last4: { type: string }
`,
    use: 'response',
    lens: `v.replace(['Customer'], {
  old: ['active_card'],
  new: ['cards', 'default_card'],
  up: ({ active_card: card }) => ({ cards: { data: card ? [card] : [] }, default_card: card?.id ?? null }),
  down: ({ cards, default_card }) => ({
    active_card: cards?.data.find(({ id }) => id === default_card) ?? null,
  }),
  loss: 'drop',
})`,
    values: [
      {
        old: { active_card: { id: 'card_2', last4: '4242' } },
        new: {
          cards: {
            data: [
              { id: 'card_1', last4: '1881' },
              { id: 'card_2', last4: '4242' },
            ],
          },
          default_card: 'card_2',
        },
      },
      { old: { active_card: null }, new: { cards: { data: [] }, default_card: null } },
    ],
  },
  {
    vendor,
    date: '2014-03-13',
    what: '`statement_descriptor` of transfers became `statement_description`.',
    schemas: `
 Transfer:
   type: object
   properties:
-    statement_descriptor: { type: [string, "null"] }
+    statement_description: { type: [string, "null"] }
`,
    lens: `v.rename(['Transfer'], 'statement_descriptor', 'statement_description')`,
    values: [{ old: { statement_descriptor: 'JULY' }, new: { statement_description: 'JULY' } }],
  },
  {
    vendor,
    date: '2014-06-13',
    what: '`type` of cards became `brand`.',
    schemas: `
 Charge:
   type: object
   properties:
     card: { $ref: "#/components/schemas/Card" }
 Card:
   type: object
   required: [last4]
   properties:
     last4: { type: string }
-    type: { type: string }
+    brand: { type: string }
`,
    use: 'response',
    lens: `v.rename(['Card'], 'type', 'brand')`,
    values: [
      { old: { card: { last4: '4242', type: 'Visa' } }, new: { card: { last4: '4242', brand: 'Visa' } } },
    ],
  },
  {
    vendor,
    date: '2014-06-17',
    what: '`refunds` of a charge is an object with `data` and `has_more`, not a list.',
    note: 'Old callers see only the refunds in `data`.',
    schemas: `
 Charge:
   type: object
   required: [refunds]
   properties:
-    refunds: { type: array, items: { $ref: "#/components/schemas/Refund" } }
+    refunds:
+      type: object
+      required: [data, has_more]
+      properties:
+        data: { type: array, items: { $ref: "#/components/schemas/Refund" } }
+        has_more: { type: boolean }
 Refund:
   type: object
   required: [amount]
   properties:
     amount: { type: integer }
`,
    use: 'response',
    lens: `v.convert(['Charge'], 'refunds', {
  up: (refunds) => ({ data: refunds, has_more: false }),
  down: ({ data }) => data,
  loss: 'drop',
})`,
    values: [
      { old: { refunds: [{ amount: 100 }] }, new: { refunds: { data: [{ amount: 100 }], has_more: false } } },
    ],
  },
  {
    vendor,
    date: '2014-12-08',
    what: '`evidence_due_by` of disputes moved into `evidence_details`, as `due_by`.',
    schemas: `
 Dispute:
   type: object
-  required: [evidence_due_by]
+  required: [evidence_details]
   properties:
-    evidence_due_by: { type: integer }
+    evidence_details:
+      type: object
+      required: [due_by, submission_count]
+      properties:
+        due_by: { type: integer }
+        submission_count: { type: integer }
`,
    use: 'response',
    lens: `v.moved(['Dispute'], ['evidence_due_by'], ['evidence_details', 'due_by'])`,
    values: [
      {
        old: { evidence_due_by: 1417996800 },
        new: { evidence_details: { due_by: 1417996800, submission_count: 1 } },
      },
    ],
  },
  {
    vendor,
    date: '2014-12-08',
    what: 'Evidence for a dispute is an object with typed fields, not a string.',
    schemas: `
 Dispute:
   type: object
   properties:
-    evidence: { type: string }
+    evidence:
+      type: object
+      properties:
+        uncategorized_text: { type: [string, "null"] }
+        customer_name: { type: [string, "null"] }
`,
    use: 'request',
    lens: `v.convert(['Dispute'], 'evidence', {
  up: (text) => ({ uncategorized_text: text }),
  down: ({ uncategorized_text }) => uncategorized_text ?? '',
  loss: 'drop',
})`,
    values: [{ old: { evidence: 'It arrived.' }, new: { evidence: { uncategorized_text: 'It arrived.' } } }],
  },
  {
    vendor,
    date: '2015-02-18',
    what: '`card` of charges became `source`.',
    schemas: `
 Charge:
   type: object
   properties:
-    card: { $ref: "#/components/schemas/Card" }
+    source: { $ref: "#/components/schemas/Card" }
 Card:
   type: object
   properties:
     last4: { type: string }
`,
    lens: `v.rename(['Charge'], 'card', 'source')`,
    values: [{ old: { card: { last4: '4242' } }, new: { source: { last4: '4242' } } }],
  },
  {
    vendor,
    date: '2015-02-18',
    what: '`customer.card.created` became `customer.source.created`.',
    webhooks: `
-customer.card.created:
+customer.source.created:
   post:
     requestBody:
       content:
         application/json:
           schema:
             type: object
             properties:
-              type: { type: string, enum: [customer.card.created] }
+              type: { type: string, enum: [customer.source.created] }
               data: { type: object, properties: { id: { type: string } } }
     responses:
       "204": { description: OK }
`,
    lens: `v.renamedEvent('customer.card.created', 'customer.source.created'),
v.valuesOf([v.payload('customer.source.created')], 'type', {
  rename: { 'customer.card.created': 'customer.source.created' },
})`,
    values: [
      { old: 'customer.card.created', new: 'customer.source.created', at: 'event' },
      {
        old: { type: 'customer.card.created', data: { id: 'card_1' } },
        new: { type: 'customer.source.created', data: { id: 'card_1' } },
        at: 'customer.source.created',
      },
    ],
  },
  {
    vendor,
    date: '2017-04-06',
    what: 'Transfers to a bank account or debit card became payouts. If a payout fails, the event is `payout.failed`, not `transfer.failed`.',
    webhooks: `
 transfer.failed:
   post:
     requestBody:
       content:
         application/json:
           schema: { $ref: "#/components/schemas/TransferEvent" }
     responses:
       "204": { description: OK }
+payout.failed:
+  post:
+    requestBody:
+      content:
+        application/json:
+          schema: { $ref: "#/components/schemas/PayoutEvent" }
+    responses:
+      "204": { description: OK }
`,
    schemas: `
 TransferEvent:
   type: object
   required: [type]
   properties:
     type: { type: string, enum: [transfer.failed] }
     destination: { type: string }
+PayoutEvent:
+  type: object
+  required: [type]
+  properties:
+    type: { type: string, enum: [payout.failed] }
+    destination: { type: string }
`,
    lens: `v.renamedEvent('transfer.failed', 'payout.failed'),
v.convertWhole(v.payload('payout.failed'), {
  up: (event) => ({ ...event, type: 'payout.failed' }),
  down: (event) => ({ ...event, type: 'transfer.failed' }),
})`,
    values: [
      { old: 'transfer.failed', new: 'transfer.failed', at: 'event' },
      { old: 'transfer.failed', new: 'payout.failed', at: 'event' },
      {
        old: { type: 'transfer.failed', destination: 'ba_1' },
        new: { type: 'payout.failed', destination: 'ba_1' },
        at: 'payout.failed',
      },
    ],
  },
  {
    vendor,
    date: '2017-05-25',
    what: '`managed` of accounts became `type`: `custom`, `standard` or the new `express`.',
    note: 'Old callers see an `express` account as `managed: false`.',
    schemas: `
 Account:
   type: object
-  required: [managed]
+  required: [type]
   properties:
-    managed: { type: boolean }
+    type: { type: string, enum: [custom, standard, express] }
`,
    lens: `v.rename(['Account'], 'managed', 'type', {
  up: (managed) => (managed ? 'custom' : 'standard'),
  down: (type) => type === 'custom',
  loss: 'merge',
})`,
    values: [
      { old: { managed: true }, new: { type: 'custom' } },
      { old: { managed: false }, new: { type: 'standard' } },
    ],
  },
  {
    vendor,
    date: '2018-02-05',
    what: '`name` and `statement_descriptor` of plans moved to the product. Creating a plan takes them in `product`.',
    schemas: `
 Plan:
   type: object
   properties:
-    name: { type: string }
-    statement_descriptor: { type: string }
+    product:
+      type: object
+      properties:
+        name: { type: string }
+        statement_descriptor: { type: string }
`,
    use: 'request',
    lens: `v.moved(['Plan'], ['name'], ['product', 'name']),
v.moved(['Plan'], ['statement_descriptor'], ['product', 'statement_descriptor'])`,
    values: [
      {
        old: { name: 'Gold', statement_descriptor: 'GOLD' },
        new: { product: { name: 'Gold', statement_descriptor: 'GOLD' } },
      },
      { old: { name: 'Gold' }, new: { product: { name: 'Gold' } } },
      { old: {}, new: {} },
    ],
  },
  {
    vendor,
    date: '2018-07-27',
    what: '`percent_off` of coupons can have two decimal places.',
    note: 'Old callers see a rounded percentage.',
    schemas: `
 Coupon:
   type: object
   properties:
-    percent_off: { type: [integer, "null"] }
+    percent_off: { type: [number, "null"] }
`,
    use: 'response',
    lens: `v.convert(['Coupon'], 'percent_off', {
  up: (percent) => percent,
  down: (percent) => Math.round(percent),
  loss: 'merge',
})`,
    values: [
      { old: { percent_off: 13 }, new: { percent_off: 12.5 } },
      { old: { percent_off: null }, new: { percent_off: null } },
    ],
  },
  {
    vendor,
    date: '2019-02-11',
    what: 'Statuses of payment intents were renamed: `requires_source` became `requires_payment_method`, `requires_source_action` became `requires_action`.',
    schemas: `
 PaymentIntent:
   type: object
   properties:
     status: { $ref: "#/components/schemas/Status" }
 Status:
   type: string
-  enum: [requires_source, requires_source_action, succeeded]
+  enum: [requires_payment_method, requires_action, succeeded]
`,
    use: 'event',
    lens: `v.values('Status', {
  rename: { requires_source: 'requires_payment_method', requires_source_action: 'requires_action' },
})`,
    values: [{ old: { status: 'requires_source' }, new: { status: 'requires_payment_method' } }],
  },
  {
    vendor,
    date: '2019-02-11',
    what: '`allowed_source_types` of payment intents became `payment_method_types`.',
    schemas: `
 PaymentIntent:
   type: object
   properties:
-    allowed_source_types: { type: array, items: { type: string } }
+    payment_method_types: { type: array, items: { type: string } }
`,
    lens: `v.rename(['PaymentIntent'], 'allowed_source_types', 'payment_method_types')`,
    values: [{ old: { allowed_source_types: ['card'] }, new: { payment_method_types: ['card'] } }],
  },
  {
    vendor,
    date: '2019-02-19',
    what: '`business_name` and `business_url` of accounts moved into `business_profile`, `statement_descriptor` into `settings.payments`.',
    schemas: `
 Account:
   type: object
   properties:
-    business_name: { type: string }
-    business_url: { type: string }
-    statement_descriptor: { type: string }
+    business_profile:
+      type: object
+      properties:
+        name: { type: string }
+        url: { type: string }
+    settings:
+      type: object
+      properties:
+        payments:
+          type: object
+          properties:
+            statement_descriptor: { type: string }
`,
    lens: `v.moved(['Account'], ['business_name'], ['business_profile', 'name']),
v.moved(['Account'], ['business_url'], ['business_profile', 'url']),
v.moved(['Account'], ['statement_descriptor'], ['settings', 'payments', 'statement_descriptor'])`,
    values: [
      {
        old: { business_name: 'Books', statement_descriptor: 'BOOKS' },
        new: {
          business_profile: { name: 'Books' },
          settings: { payments: { statement_descriptor: 'BOOKS' } },
        },
      },
    ],
  },
  {
    vendor,
    date: '2019-10-17',
    what: '`billing` of invoices, subscriptions and subscription schedules became `collection_method`.',
    schemas: `
 Subscription:
   type: object
   properties:
-    billing: { type: string, enum: [charge_automatically, send_invoice] }
+    collection_method: { type: string, enum: [charge_automatically, send_invoice] }
`,
    lens: `v.rename(['Subscription'], 'billing', 'collection_method')`,
    values: [{ old: { billing: 'send_invoice' }, new: { collection_method: 'send_invoice' } }],
  },
  {
    vendor,
    date: '2019-10-17',
    what: '`account_balance` of customers became `balance`.',
    schemas: `
 Customer:
   type: object
   required: [id]
   properties:
     id: { type: string }
-    account_balance: { type: integer }
+    balance: { type: integer }
`,
    use: 'response',
    lens: `v.rename(['Customer'], 'account_balance', 'balance')`,
    values: [{ old: { id: 'cus_1', account_balance: -500 }, new: { id: 'cus_1', balance: -500 } }],
  },
  {
    vendor,
    date: '2020-08-27',
    what: '`prorate` of subscription updates became `proration_behavior`.',
    schemas: `
 SubscriptionUpdate:
   type: object
   properties:
-    prorate: { type: boolean }
+    proration_behavior: { type: string, enum: [create_prorations, none] }
`,
    use: 'request',
    lens: `v.rename(['SubscriptionUpdate'], 'prorate', 'proration_behavior', {
  up: (prorate) => (prorate ? 'create_prorations' : 'none'),
  down: (behavior) => behavior === 'create_prorations',
})`,
    values: [{ old: { prorate: false }, new: { proration_behavior: 'none' } }],
  },
  {
    vendor,
    date: '2020-08-27',
    what: 'Customers include `sources` and `subscriptions` only if the request expands them.',
    reason:
      'Old callers always get both lists, and the new response does not include them. The handler must load them.',
  },
  {
    vendor,
    date: '2022-11-15',
    what: 'Payment intents have the ID of the `latest_charge`, instead of a list of `charges`.',
    reason: 'Old callers get whole charges, and the new response has only an ID. The handler must load them.',
  },
  {
    vendor,
    date: '2023-08-16',
    what: 'A new payment intent without `payment_method_types` takes the payment methods of the Dashboard. Before, it took only cards.',
    note: 'The lens carries requests without `automatic_payment_methods`.',
    schemas: `
 PaymentIntent:
   type: object
   properties:
     amount: { type: integer }
-    payment_method_types: { type: array, items: { type: string }, default: [card] }
+    payment_method_types: { type: array, items: { type: string } }
`,
    use: 'request',
    lens: `v.default(['PaymentIntent'], 'payment_method_types', ['card'])`,
    values: [
      { old: { amount: 500 }, new: { amount: 500, payment_method_types: ['card'] } },
      { old: { payment_method_types: ['ideal'] }, new: { payment_method_types: ['ideal'] } },
    ],
  },
  {
    vendor,
    date: '2024-04-10',
    what: '`features` of products became `marketing_features`.',
    schemas: `
 Product:
   type: object
   properties:
-    features: { type: array, items: { $ref: "#/components/schemas/Feature" } }
+    marketing_features: { type: array, items: { $ref: "#/components/schemas/Feature" } }
 Feature:
   type: object
   properties:
     name: { type: string }
`,
    lens: `v.rename(['Product'], 'features', 'marketing_features')`,
    values: [{ old: { features: [{ name: 'Fast' }] }, new: { marketing_features: [{ name: 'Fast' }] } }],
  },
  {
    vendor,
    date: '2025-03-31.basil',
    what: '`current_period_start` and `current_period_end` moved from subscriptions to their items.',
    note: 'Old callers see the earliest start and the latest end of the items.',
    schemas: `
 Subscription:
   type: object
-  required: [current_period_start, current_period_end, items]
+  required: [items]
   properties:
-    current_period_start: { type: integer }
-    current_period_end: { type: integer }
     items:
       type: array
       minItems: 1
       items: { $ref: "#/components/schemas/SubscriptionItem" }
 SubscriptionItem:
   type: object
-  required: [id]
+  required: [id, current_period_start, current_period_end]
   properties:
     id: { type: string }
+    current_period_start: { type: integer }
+    current_period_end: { type: integer }
`,
    use: 'response',
    lens: `v.drop(['Subscription'], 'current_period_start', {
  down: ({ items }) => Math.min(...items.map((item) => item.current_period_start)),
  loss: 'drop',
}),
v.drop(['Subscription'], 'current_period_end', {
  down: ({ items }) => Math.max(...items.map((item) => item.current_period_end)),
  loss: 'drop',
})`,
    values: [
      {
        old: { current_period_start: 10, current_period_end: 40, items: [{ id: 'si_1' }, { id: 'si_2' }] },
        new: {
          items: [
            { id: 'si_1', current_period_start: 10, current_period_end: 30 },
            { id: 'si_2', current_period_start: 20, current_period_end: 40 },
          ],
        },
      },
    ],
  },
  {
    vendor,
    date: '2025-03-31.basil',
    what: '`subscription` of invoices moved to `parent.subscription_details`.',
    schemas: `
 Invoice:
   type: object
   properties:
     total: { type: integer }
-    subscription: { type: string }
+    parent:
+      type: [object, "null"]
+      properties:
+        type: { type: string }
+        subscription_details:
+          type: object
+          properties:
+            subscription: { type: string }
`,
    use: 'response',
    lens: `v.moved(['Invoice'], ['subscription'], ['parent', 'subscription_details', 'subscription'])`,
    values: [
      {
        old: { total: 500, subscription: 'sub_1' },
        new: {
          total: 500,
          parent: { type: 'subscription_details', subscription_details: { subscription: 'sub_1' } },
        },
      },
      { old: { total: 500 }, new: { total: 500, parent: null } },
    ],
  },
  {
    vendor,
    date: '2025-03-31.basil',
    what: '`shipping_details` of Checkout sessions moved to `collected_information`.',
    schemas: `
 Session:
   type: object
   properties:
-    shipping_details: { $ref: "#/components/schemas/ShippingDetails" }
+    collected_information:
+      type: object
+      properties:
+        shipping_details: { $ref: "#/components/schemas/ShippingDetails" }
 ShippingDetails:
   type: object
   properties:
     name: { type: string }
`,
    use: 'response',
    lens: `v.moved(['Session'], ['shipping_details'], ['collected_information', 'shipping_details'])`,
    values: [
      {
        old: { shipping_details: { name: 'Ada' } },
        new: { collected_information: { shipping_details: { name: 'Ada' } } },
      },
    ],
  },
  {
    vendor,
    date: '2025-03-31.basil',
    what: 'Creating a subscription takes a list of `discounts`, instead of one `coupon`.',
    schemas: `
 Subscription:
   type: object
   properties:
     customer: { type: string }
-    coupon: { type: string }
+    discounts:
+      type: array
+      items:
+        type: object
+        properties:
+          coupon: { type: string }
`,
    use: 'request',
    lens: `v.rename(['Subscription'], 'coupon', 'discounts', {
  up: (coupon) => [{ coupon }],
  down: ([discount]) => discount?.coupon ?? '',
  loss: 'drop',
})`,
    values: [
      {
        old: { customer: 'cus_1', coupon: 'MAY' },
        new: { customer: 'cus_1', discounts: [{ coupon: 'MAY' }] },
      },
    ],
  },
  {
    vendor,
    date: '2025-03-31.basil',
    what: 'Charges and payment intents no longer include `invoice`.',
    reason:
      'An invoice can have several payments. No property of a charge or payment intent names the invoice.',
  },
  {
    vendor,
    date: '2025-03-31.basil',
    what: '`GET /v1/invoices/upcoming` was removed in favor of `POST /v1/invoices/create_preview`, which takes a body and must name a subscription or its details.',
    note: 'The lens carries requests that name a subscription. A preview across all subscriptions of a customer no longer exists.',
    paths: `
-/v1/invoices/upcoming:
-  get:
-    operationId: upcomingInvoice
-    parameters:
-      - { name: customer, in: query, schema: { type: string } }
-      - { name: subscription, in: query, required: true, schema: { type: string } }
-    responses:
-      "204": { description: OK }
+/v1/invoices/create_preview:
+  post:
+    operationId: createPreview
+    requestBody:
+      required: true
+      content:
+        application/json:
+          schema:
+            type: object
+            required: [subscription]
+            properties:
+              customer: { type: string }
+              subscription: { type: string }
+    responses:
+      "204": { description: OK }
`,
    lens: `v.served('upcomingInvoice', 'createPreview'),
v.movedParameter(['query', 'customer'], ['body', 'customer'], 'createPreview'),
v.movedParameter(['query', 'subscription'], ['body', 'subscription'], 'createPreview')`,
    values: [
      {
        old: { path: {}, query: { subscription: 'sub_1' }, headers: {} },
        new: { path: {}, query: {}, headers: {}, body: { subscription: 'sub_1' } },
        at: 'request',
      },
    ],
  },
  {
    vendor,
    date: '2026-09-30.endive',
    what: '`billing_cycle_anchor` of subscription updates is an object with a `type`, not a string.',
    schemas: `
 SubscriptionUpdate:
   type: object
   properties:
-    billing_cycle_anchor: { type: string, enum: [now, unchanged] }
+    billing_cycle_anchor:
+      type: object
+      required: [type]
+      properties:
+        type: { type: string, enum: [now, unchanged] }
`,
    use: 'request',
    lens: `v.convert(['SubscriptionUpdate'], 'billing_cycle_anchor', {
  up: (type) => ({ type }),
  down: ({ type }) => type,
})`,
    values: [{ old: { billing_cycle_anchor: 'now' }, new: { billing_cycle_anchor: { type: 'now' } } }],
  },
]
