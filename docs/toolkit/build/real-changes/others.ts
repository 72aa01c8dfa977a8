import type { RealChange } from './real-change.ts'

/** Vendors with few changes in the table; each names its source. */
export const OTHERS: readonly RealChange[] = [
  // docs.adyen.com/online-payments/upgrade-your-integration/upgrade-to-checkout-api-v69
  {
    vendor: 'Adyen',
    date: 'Checkout v69',
    what: 'Results of fraud checks are no longer wrapped in a `FraudCheckResult`.',
    schemas: `
 FraudResult:
   type: object
   required: [accountScore]
   properties:
     accountScore: { type: integer }
-    results: { type: array, items: { $ref: "#/components/schemas/Wrapper" } }
+    results: { type: array, items: { $ref: "#/components/schemas/FraudCheck" } }
-Wrapper:
-  type: object
-  required: [FraudCheckResult]
-  properties:
-    FraudCheckResult: { $ref: "#/components/schemas/FraudCheck" }
 FraudCheck:
   type: object
   properties:
     name: { type: string }
`,
    use: 'response',
    lens: `v.convert(['FraudResult'], 'results', {
  up: (results) => results.map(({ FraudCheckResult }) => FraudCheckResult),
  down: (results) => results.map((result) => ({ FraudCheckResult: result })),
})`,
    values: [
      {
        old: { accountScore: 75, results: [{ FraudCheckResult: { name: 'a' } }] },
        new: { accountScore: 75, results: [{ name: 'a' }] },
      },
    ],
  },
  // json/CheckoutService-v71.json and v72 of Adyen/adyen-openapi
  {
    vendor: 'Adyen',
    date: 'Checkout v72',
    what: '`conversionId` of payments, deprecated since v68 in favor of `checkoutAttemptId`, was removed.',
    note: 'The lens carries requests that do not send `checkoutAttemptId` as well.',
    schemas: `
 PaymentRequest:
   type: object
   properties:
-    conversionId: { type: string }
+    checkoutAttemptId: { type: string }
`,
    use: 'request',
    lens: `v.rename(['PaymentRequest'], 'conversionId', 'checkoutAttemptId')`,
    values: [{ old: { conversionId: 'a' }, new: { checkoutAttemptId: 'a' } }],
  },
  // clerk.com/changelog/2025-11-10-billing-new-api-version
  {
    vendor: 'Clerk',
    date: '2025-11-10',
    what: 'The amounts and the currency of plans moved into a `fee` object.',
    schemas: `
 Plan:
   type: object
   required: [name]
   properties:
     name: { type: string }
-    amount: { type: integer }
-    amount_formatted: { type: string }
-    currency: { type: string }
+    fee:
+      type: object
+      properties:
+        amount: { type: integer }
+        amount_formatted: { type: string }
+        currency: { type: string }
`,
    use: 'response',
    lens: `v.moved(['Plan'], ['amount'], ['fee', 'amount']),
v.moved(['Plan'], ['amount_formatted'], ['fee', 'amount_formatted']),
v.moved(['Plan'], ['currency'], ['fee', 'currency'])`,
    values: [
      {
        old: { name: 'Pro', amount: 1000, amount_formatted: '10.00', currency: 'USD' },
        new: { name: 'Pro', fee: { amount: 1000, amount_formatted: '10.00', currency: 'USD' } },
      },
    ],
  },
  {
    vendor: 'Clerk',
    date: '2025-11-10',
    what: '`payment_source` became `payment_method`.',
    schemas: `
 SubscriptionItem:
   type: object
   properties:
-    payment_source: { $ref: "#/components/schemas/PaymentMethod" }
+    payment_method: { $ref: "#/components/schemas/PaymentMethod" }
 PaymentMethod:
   type: object
   properties:
     last4: { type: string }
`,
    use: 'event',
    lens: `v.rename(['SubscriptionItem'], 'payment_source', 'payment_method')`,
    values: [{ old: { payment_source: { last4: '4242' } }, new: { payment_method: { last4: '4242' } } }],
  },
  {
    vendor: 'Clerk',
    date: '2025-11-10',
    what: '`/commerce` became `/billing`.',
    paths: `
-/commerce/plans:
+/billing/plans:
   get:
-    operationId: GetCommercePlanList
+    operationId: GetBillingPlanList
     responses:
       "204": { description: OK }
`,
    lens: `v.served('GetCommercePlanList', 'GetBillingPlanList')`,
    values: [{ old: 'GetCommercePlanList', new: 'GetBillingPlanList', at: 'operation' }],
  },
  {
    vendor: 'Clerk',
    date: '2025-11-10',
    what: '`description` of plans may be null.',
    note: 'Old callers see an empty string for null.',
    schemas: `
 Plan:
   type: object
   required: [description]
   properties:
-    description: { type: string }
+    description: { type: [string, "null"] }
`,
    use: 'response',
    lens: `v.nullable(['Plan'], 'description', '')`,
    values: [{ old: { description: '' }, new: { description: null } }],
  },
  // The documents of docs.docker.com/engine/api/version-history
  {
    vendor: 'Docker',
    date: 'v1.41',
    what: 'Listing images no longer takes `filter`, only `filters`, which is JSON.',
    reason:
      '`filter` and `filters` become one parameter, and a lens on a parameter reads only its own value.',
  },
  {
    vendor: 'Docker',
    date: 'v1.42',
    what: '`KernelMemory` of a container is ignored.',
    note: 'The value is dropped, because the new version ignores it.',
    schemas: `
 ContainerCreate:
   type: object
   properties:
     Image: { type: string }
-    KernelMemory: { type: integer }
`,
    use: 'request',
    lens: `v.drop(['ContainerCreate'], 'KernelMemory', { loss: 'drop' })`,
    values: [{ old: { Image: 'a', KernelMemory: 1024 }, new: { Image: 'a' } }],
  },
  {
    vendor: 'Docker',
    date: 'v1.42',
    what: '`Parent` of build cache records became a list, `Parents`.',
    note: 'Old callers see only the first parent.',
    schemas: `
 BuildCache:
   type: object
   required: [ID]
   properties:
     ID: { type: string }
-    Parent: { type: string }
+    Parents: { type: array, items: { type: string } }
`,
    use: 'response',
    lens: `v.wrapped(['BuildCache'], 'Parent', 'Parents', { loss: 'drop' })`,
    values: [{ old: { ID: 'a', Parent: 'b' }, new: { ID: 'a', Parents: ['b', 'c'] } }],
  },
  // developers.intercom.com/docs/references: the 2.0 changelog, "Create lead" of 1.4 and "Create contact" of 2.1
  {
    vendor: 'Intercom',
    date: '2.0',
    what: 'Users and leads became contacts with a `role`. `/contacts` no longer creates only leads.',
    paths: `
-/users:
-  post:
-    operationId: createUser
-    requestBody:
-      required: true
-      content:
-        application/json:
-          schema: { $ref: "#/components/schemas/Person" }
-    responses:
-      "204": { description: OK }
 /contacts:
   post:
-    operationId: createLead
+    operationId: createContact
     requestBody:
       required: true
       content:
         application/json:
           schema: { $ref: "#/components/schemas/Person" }
     responses:
       "204": { description: OK }
`,
    schemas: `
 Person:
   type: object
+  required: [role]
   properties:
     email: { type: string }
+    role: { type: string, enum: [user, lead] }
`,
    lens: `v.served('createUser', 'createContact', { body: { role: 'user' } }),
v.served('createLead', 'createContact', { body: { role: 'lead' } })`,
    values: [
      { old: 'createUser', new: 'createContact', at: 'operation' },
      { old: { email: 'a@b' }, new: { email: 'a@b', role: 'user' }, only: 'up' },
    ],
  },
  // descriptions/2.12 and 2.13 of intercom/Intercom-OpenAPI
  {
    vendor: 'Intercom',
    date: '2.13',
    what: 'The list of conversations has `conversations`, not `data`.',
    schemas: `
 ConversationList:
   type: object
-  required: [data]
+  required: [conversations]
   properties:
-    data: { type: array, items: { type: string } }
+    conversations: { type: array, items: { type: string } }
`,
    use: 'response',
    lens: `v.rename(['ConversationList'], 'data', 'conversations')`,
    values: [{ old: { data: ['1'] }, new: { conversations: ['1'] } }],
  },
  // The documents of pinecone-io/pinecone-api
  {
    vendor: 'Pinecone',
    date: '2024-07',
    what: '`replicas` of a pod index is optional.',
    note: 'Old callers see the default, 1, if it is absent.',
    schemas: `
 PodSpec:
   type: object
-  required: [pod_type, replicas]
+  required: [pod_type]
   properties:
     pod_type: { type: string }
     replicas: { type: integer, default: 1 }
`,
    use: 'response',
    lens: `v.optional(['PodSpec'], 'replicas', 1)`,
    values: [{ old: { pod_type: 'p1.x1', replicas: 1 }, new: { pod_type: 'p1.x1' } }],
  },
  {
    vendor: 'Pinecone',
    date: '2024-10',
    what: '`GET /describe_index_stats` was removed. `POST` remains.',
    paths: `
 /describe_index_stats:
-  get:
-    operationId: alt_describe_index_stats
-    responses:
-      "204": { description: OK }
   post:
     operationId: describe_index_stats
     requestBody:
       content:
         application/json:
           schema:
             type: object
             properties:
               filter: { type: string }
     responses:
       "204": { description: OK }
`,
    lens: `v.served('alt_describe_index_stats', 'describe_index_stats')`,
    values: [{ old: 'alt_describe_index_stats', new: 'describe_index_stats', at: 'operation' }],
  },
  {
    vendor: 'Pinecone',
    date: '2024-10',
    what: '`DELETE /vectors/delete`, which takes a query, was removed. `POST`, which takes a body, remains.',
    paths: `
 /vectors/delete:
-  delete:
-    operationId: alt_delete
-    parameters:
-      - { name: deleteAll, in: query, schema: { type: boolean } }
-      - { name: namespace, in: query, schema: { type: string } }
-    responses:
-      "204": { description: OK }
   post:
     operationId: delete
     requestBody:
       content:
         application/json:
           schema:
             type: object
             properties:
               deleteAll: { type: boolean }
               namespace: { type: string }
     responses:
       "204": { description: OK }
`,
    lens: `v.served('alt_delete', 'delete'),
v.movedParameter(['query', 'deleteAll'], ['body', 'deleteAll'], 'delete'),
v.movedParameter(['query', 'namespace'], ['body', 'namespace'], 'delete')`,
    values: [
      {
        old: { path: {}, query: { deleteAll: true, namespace: 'a' }, headers: {} },
        new: { path: {}, query: {}, headers: {}, body: { deleteAll: true, namespace: 'a' } },
        at: 'request',
      },
    ],
  },
  {
    vendor: 'Pinecone',
    date: '2025-01',
    what: '`metric` of a new index no longer has a default.',
    schemas: `
 CreateIndex:
   type: object
   properties:
     name: { type: string }
-    metric: { type: string, enum: [cosine, euclidean], default: cosine }
+    metric: { type: string, enum: [cosine, euclidean] }
`,
    use: 'request',
    lens: `v.default(['CreateIndex'], 'metric', 'cosine')`,
    values: [{ old: { name: 'a' }, new: { name: 'a', metric: 'cosine' } }],
  },
  {
    vendor: 'Pinecone',
    date: '2025-04',
    what: 'An index can have the state `Disabled`.',
    note: 'Old callers see `Disabled` as `Terminating`.',
    schemas: `
 IndexStatus:
   type: object
   properties:
     ready: { type: boolean }
-    state: { type: string, enum: [Ready, Terminating] }
+    state: { type: string, enum: [Ready, Terminating, Disabled] }
`,
    use: 'response',
    lens: `v.valuesOf(['IndexStatus'], 'state', { merge: { Disabled: 'Terminating' }, loss: 'merge' })`,
    values: [{ old: { state: 'Terminating' }, new: { state: 'Disabled' } }],
  },
  {
    vendor: 'Pinecone',
    date: '2025-10',
    what: 'The header `X-Pinecone-Api-Version` is required for every request.',
    note: 'Requests without the header get the date of the old version.',
    paths: `
 /indexes:
   get:
     operationId: list_indexes
-    parameters: []
+    parameters:
+      - { name: X-Pinecone-Api-Version, in: header, required: true, schema: { type: string } }
     responses:
       "204": { description: OK }
`,
    lens: `v.defaultParameter('header', 'X-Pinecone-Api-Version', '2025-04', 'list_indexes')`,
    values: [{ old: {}, new: { 'x-pinecone-api-version': '2025-04' }, at: 'headers' }],
  },
  // api.slack.com/changelog/2020-01-deprecating-antecedents-to-the-conversations-api and api.slack.com/methods/conversations.list
  {
    vendor: 'Slack',
    date: 'February 24, 2021',
    what: '`channels.list` and `groups.list` were retired. `conversations.list` replaces both and takes `types`.',
    paths: `
-/channels.list:
-  get:
-    operationId: channelsList
-    parameters:
-      - { name: limit, in: query, schema: { type: integer } }
-    responses:
-      "204": { description: OK }
-/groups.list:
-  get:
-    operationId: groupsList
-    parameters:
-      - { name: limit, in: query, schema: { type: integer } }
-    responses:
-      "204": { description: OK }
+/conversations.list:
+  get:
+    operationId: conversationsList
+    parameters:
+      - { name: limit, in: query, schema: { type: integer } }
+      - { name: types, in: query, schema: { type: string, default: public_channel } }
+    responses:
+      "204": { description: OK }
`,
    lens: `v.served('channelsList', 'conversationsList', { query: { types: 'public_channel' } }),
v.served('groupsList', 'conversationsList', { query: { types: 'private_channel' } })`,
    values: [{ old: { limit: 20 }, new: { limit: 20, types: 'public_channel' }, at: 'query' }],
  },
]
