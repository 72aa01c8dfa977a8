import type { RealChange } from './real-change.ts'

const vendor = 'Plaid'

/** From CHANGELOG.md of plaid/plaid-openapi, and from plaid.com/docs/api/versioning. */
export const PLAID: readonly RealChange[] = [
  {
    vendor,
    date: '2019-05-29',
    what: '`zip` and `state` of addresses became `postal_code` and `region`.',
    schemas: `
 Identity:
   type: object
   properties:
     addresses: { type: array, items: { $ref: "#/components/schemas/Address" } }
 Address:
   type: object
   required: [city]
   properties:
     city: { type: string }
-    zip: { type: string }
-    state: { type: string }
+    postal_code: { type: string }
+    region: { type: string }
`,
    use: 'response',
    lens: `v.rename(['Address'], 'zip', 'postal_code'),
v.rename(['Address'], 'state', 'region')`,
    values: [
      {
        old: { addresses: [{ city: 'Malakoff', zip: '14236', state: 'NY' }] },
        new: { addresses: [{ city: 'Malakoff', postal_code: '14236', region: 'NY' }] },
      },
    ],
  },
  {
    vendor,
    date: '2020-09-14_1.60.7',
    what: '`start_time` and `end_time` of the list of sweeps became `start_date` and `end_date`.',
    schemas: `
 SweepList:
   type: object
   properties:
-    start_time: { type: string, format: date-time }
-    end_time: { type: string, format: date-time }
+    start_date: { type: string, format: date-time }
+    end_date: { type: string, format: date-time }
`,
    use: 'request',
    lens: `v.rename(['SweepList'], 'start_time', 'start_date'),
v.rename(['SweepList'], 'end_time', 'end_date')`,
    values: [{ old: { start_time: '2022-01-01T00:00:00Z' }, new: { start_date: '2022-01-01T00:00:00Z' } }],
  },
  {
    vendor,
    date: '2020-09-14_1.193.0',
    what: 'The decision rationale `LOGIN_REQUIRED` became `ITEM_LOGIN_REQUIRED`.',
    schemas: `
 Authorization:
   type: object
   properties:
     decision_rationale:
       type: object
       properties:
         code: { $ref: "#/components/schemas/RationaleCode" }
 RationaleCode:
   type: string
-  enum: [NSF, LOGIN_REQUIRED]
+  enum: [NSF, ITEM_LOGIN_REQUIRED]
`,
    use: 'response',
    lens: `v.values('RationaleCode', { rename: { LOGIN_REQUIRED: 'ITEM_LOGIN_REQUIRED' } })`,
    values: [
      {
        old: { decision_rationale: { code: 'LOGIN_REQUIRED' } },
        new: { decision_rationale: { code: 'ITEM_LOGIN_REQUIRED' } },
      },
    ],
  },
  {
    vendor,
    date: '2020-09-14_1.199.0',
    what: '`/wallet/transactions/list` became `/wallet/transaction/list`.',
    paths: `
-/wallet/transactions/list:
+/wallet/transaction/list:
   post:
-    operationId: walletTransactionsList
+    operationId: walletTransactionList
     requestBody:
       content:
         application/json:
           schema:
             type: object
             properties:
               wallet_id: { type: string }
     responses:
       "204": { description: OK }
`,
    lens: `v.served('walletTransactionsList', 'walletTransactionList')`,
    values: [{ old: 'walletTransactionsList', new: 'walletTransactionList', at: 'operation' }],
  },
  {
    vendor,
    date: '2020-09-14_1.206.2',
    what: 'The counterparty type `delivery_marketplace` became `marketplace`.',
    schemas: `
 Counterparty:
   type: object
   properties:
-    type: { type: string, enum: [merchant, delivery_marketplace] }
+    type: { type: string, enum: [merchant, marketplace] }
`,
    use: 'response',
    lens: `v.valuesOf(['Counterparty'], 'type', { rename: { delivery_marketplace: 'marketplace' } })`,
    values: [{ old: { type: 'delivery_marketplace' }, new: { type: 'marketplace' } }],
  },
  {
    vendor,
    date: '2020-09-14_1.340.0',
    what: '`communication_methods` moved into `recipient`.',
    schemas: `
 LinkDelivery:
   type: object
   properties:
-    communication_methods: { type: array, items: { type: string } }
+    recipient:
+      type: object
+      properties:
+        communication_methods: { type: array, items: { type: string } }
`,
    use: 'request',
    lens: `v.moved(['LinkDelivery'], ['communication_methods'], ['recipient', 'communication_methods'])`,
    values: [
      { old: { communication_methods: ['SMS'] }, new: { recipient: { communication_methods: ['SMS'] } } },
    ],
  },
  {
    vendor,
    date: '2020-09-14_1.429.0',
    what: 'Transfers need an `account_id` and an `access_token`, and no longer take a payment profile.',
    reason: 'The request does not name the account of a payment profile; the handler must look it up.',
  },
  {
    vendor,
    date: '2020-09-14_1.525.1',
    what: '`bank_income` of income insights became `report`.',
    schemas: `
 IncomeInsights:
   type: object
-  required: [bank_income]
+  required: [report]
   properties:
-    bank_income: { type: object, additionalProperties: { type: string } }
+    report: { type: object, additionalProperties: { type: string } }
`,
    use: 'response',
    lens: `v.rename(['IncomeInsights'], 'bank_income', 'report')`,
    values: [{ old: { bank_income: { id: 'r-1' } }, new: { report: { id: 'r-1' } } }],
  },
  {
    vendor,
    date: '2020-09-14_1.532.2',
    what: '`/cra/check_report/network_attributes/get` became `/cra/check_report/network_insights/get`.',
    paths: `
-/cra/check_report/network_attributes/get:
+/cra/check_report/network_insights/get:
   post:
-    operationId: craCheckReportNetworkAttributesGet
+    operationId: craCheckReportNetworkInsightsGet
     responses:
       "200":
         description: OK
         content:
           application/json:
             schema: { $ref: "#/components/schemas/NetworkReport" }
`,
    schemas: `
 NetworkReport:
   type: object
   properties:
-    network_attributes: { type: object, additionalProperties: { type: integer } }
+    network_insights: { type: object, additionalProperties: { type: integer } }
`,
    lens: `v.served('craCheckReportNetworkAttributesGet', 'craCheckReportNetworkInsightsGet'),
v.rename(['NetworkReport'], 'network_attributes', 'network_insights')`,
    values: [
      {
        old: { network_attributes: { plaid_conn: 3 } },
        new: { network_insights: { plaid_conn: 3 } },
        only: 'down',
      },
    ],
  },
  {
    vendor,
    date: '2020-09-14_1.548.0',
    what: 'Parts of the monitoring response are single objects, not lists.',
    schemas: `
 Monitoring:
   type: object
   required: [items]
   properties:
     items: { type: array, items: { $ref: "#/components/schemas/MonitoredItem" } }
 MonitoredItem:
   type: object
   required: [income]
   properties:
-    income: { type: array, items: { $ref: "#/components/schemas/Income" } }
+    income: { $ref: "#/components/schemas/Income" }
 Income:
   type: object
   properties:
     total: { type: number }
`,
    use: 'response',
    lens: `v.unwrapped(['MonitoredItem'], 'income', 'income', { loss: 'drop', empty: {} })`,
    values: [{ old: { items: [{ income: [{ total: 10 }] }] }, new: { items: [{ income: { total: 10 } }] } }],
  },
  {
    vendor,
    date: '2020-09-14_1.559.0',
    what: '`ledger_id` moved from `balance` to the top of the response.',
    schemas: `
 Ledger:
   type: object
+  required: [ledger_id]
   properties:
+    ledger_id: { type: string }
     balance:
       type: object
-      required: [ledger_id]
       properties:
-        ledger_id: { type: string }
         available: { type: string }
`,
    use: 'response',
    lens: `v.moved(['Ledger'], ['balance', 'ledger_id'], ['ledger_id'])`,
    values: [
      {
        old: { balance: { ledger_id: 'l-1', available: '10.00' } },
        new: { ledger_id: 'l-1', balance: { available: '10.00' } },
      },
    ],
  },
  {
    vendor,
    date: '2020-09-14_1.586.1',
    what: 'The consent event code `PLAID_END_USER_PRIVACY_POLICY` became `USER_AGREEMENT`.',
    schemas: `
 ConsentEvent:
   type: object
   properties:
     event_code: { $ref: "#/components/schemas/ConsentEventCode" }
 ConsentEventCode:
   type: string
-  enum: [PLAID_END_USER_PRIVACY_POLICY]
+  enum: [USER_AGREEMENT]
`,
    use: 'response',
    lens: `v.values('ConsentEventCode', { rename: { PLAID_END_USER_PRIVACY_POLICY: 'USER_AGREEMENT' } })`,
    values: [{ old: { event_code: 'PLAID_END_USER_PRIVACY_POLICY' }, new: { event_code: 'USER_AGREEMENT' } }],
  },
  {
    vendor,
    date: '2020-09-14_1.617.0',
    what: 'Account insights no longer include `average_inflow_amount`.',
    reason: 'The average is computed from transactions that the response does not include.',
  },
  {
    vendor,
    date: '2020-09-14_1.627.0',
    what: '`posted_date` of statements may be null.',
    note: 'Old callers see a placeholder, `1970-01-01`, for null.',
    schemas: `
 Statement:
   type: object
   required: [year, posted_date]
   properties:
     year: { type: integer, minimum: 1970, maximum: 2100 }
-    posted_date: { type: string, format: date }
+    posted_date: { type: [string, "null"], format: date }
`,
    use: 'response',
    lens: `v.nullable(['Statement'], 'posted_date', '1970-01-01')`,
    values: [{ old: { year: 2024, posted_date: '1970-01-01' }, new: { year: 2024, posted_date: null } }],
  },
  {
    vendor,
    date: '2020-09-14_1.633.0',
    what: '`user_id` of session tokens moved into `user`.',
    schemas: `
 SessionToken:
   type: object
   properties:
-    user_id: { type: string }
     user:
       type: object
       properties:
         client_user_id: { type: string }
+        user_id: { type: string }
`,
    use: 'request',
    lens: `v.moved(['SessionToken'], ['user_id'], ['user', 'user_id'])`,
    values: [
      {
        old: { user_id: 'u-1', user: { client_user_id: 'c' } },
        new: { user: { client_user_id: 'c', user_id: 'u-1' } },
      },
      { old: { user_id: 'u-1' }, new: { user: { user_id: 'u-1' } } },
    ],
  },
  {
    vendor,
    date: '2020-09-14_1.634.0',
    what: '`client_user_id` is required to create a session token.',
    reason: 'The caller chooses the ID of its user, so no default is correct.',
  },
  {
    vendor,
    date: '2020-09-14_1.634.1',
    what: '`result` moved from `triggered_rule_details` to `ruleset`.',
    schemas: `
 Ruleset:
   type: object
   properties:
     ruleset_key: { type: string }
+    result: { type: string }
     triggered_rule_details:
       type: object
       properties:
-        result: { type: string }
         custom_action_key: { type: string }
`,
    use: 'response',
    lens: `v.moved(['Ruleset'], ['triggered_rule_details', 'result'], ['result'])`,
    values: [
      {
        old: {
          ruleset_key: 'onboarding',
          triggered_rule_details: { result: 'REVIEW', custom_action_key: 'a' },
        },
        new: {
          ruleset_key: 'onboarding',
          result: 'REVIEW',
          triggered_rule_details: { custom_action_key: 'a' },
        },
      },
    ],
  },
  {
    vendor,
    date: '2020-09-14_1.646.0',
    what: 'The report type `voe` became `employment_refresh`.',
    schemas: `
 VerificationGet:
   type: object
   required: [reports_requested]
   properties:
     reports_requested: { type: array, items: { $ref: "#/components/schemas/ReportType" } }
 ReportType:
   type: string
-  enum: [voa, voe]
+  enum: [voa, employment_refresh]
`,
    use: 'request',
    lens: `v.values('ReportType', { rename: { voe: 'employment_refresh' } })`,
    values: [
      {
        old: { reports_requested: ['voa', 'voe'] },
        new: { reports_requested: ['voa', 'employment_refresh'] },
      },
    ],
  },
  {
    vendor,
    date: '2020-09-14_1.656.1',
    what: '`protect_sdk_session_id` of protect events became `protect_session_id`.',
    schemas: `
 ProtectEvent:
   type: object
   properties:
     timestamp: { type: string }
-    protect_sdk_session_id: { type: string }
+    protect_session_id: { type: string }
`,
    use: 'request',
    lens: `v.rename(['ProtectEvent'], 'protect_sdk_session_id', 'protect_session_id')`,
    values: [{ old: { protect_sdk_session_id: 's-1' }, new: { protect_session_id: 's-1' } }],
  },
  {
    vendor,
    date: '2020-09-14_1.681.8',
    what: '`personal_finance_category` of category rules was split into `pfc_primary_category` and `pfc_detailed_category`.',
    note: 'The lens of this page knows only two primary categories.',
    schemas: `
 CategoryRule:
   type: object
-  required: [personal_finance_category]
+  required: [pfc_primary_category, pfc_detailed_category]
   properties:
-    personal_finance_category: { type: string }
+    pfc_primary_category: { type: string }
+    pfc_detailed_category: { type: string }
`,
    lens: `v.replace(['CategoryRule'], {
  old: ['personal_finance_category'],
  new: ['pfc_primary_category', 'pfc_detailed_category'],
  up: ({ personal_finance_category: detailed = '' }) => ({
    pfc_primary_category: detailed.startsWith('FOOD_AND_DRINK') ? 'FOOD_AND_DRINK' : 'TRANSPORTATION',
    pfc_detailed_category: detailed,
  }),
  down: ({ pfc_detailed_category = '' }) => ({ personal_finance_category: pfc_detailed_category }),
  loss: 'drop',
})`,
    values: [
      {
        old: { personal_finance_category: 'TRANSPORTATION_GAS' },
        new: { pfc_primary_category: 'TRANSPORTATION', pfc_detailed_category: 'TRANSPORTATION_GAS' },
      },
    ],
  },
  {
    vendor,
    date: '2020-09-14_1.682.1',
    what: '`score` and `model` moved out of `trust_index` to the top of the response, and `fraud_attributes` became `attributes`.',
    schemas: `
 ProtectCompute:
   type: object
   properties:
-    trust_index:
-      type: object
-      properties:
-        score: { type: integer }
-        model: { type: string }
-    fraud_attributes: { type: object, additionalProperties: { type: string } }
+    score: { type: integer }
+    model: { type: string }
+    attributes: { type: object, additionalProperties: { type: string } }
`,
    use: 'response',
    lens: `v.moved(['ProtectCompute'], ['trust_index', 'score'], ['score']),
v.moved(['ProtectCompute'], ['trust_index', 'model'], ['model']),
v.rename(['ProtectCompute'], 'fraud_attributes', 'attributes')`,
    values: [
      {
        old: { trust_index: { score: 86, model: 'trust_index.1.0' }, fraud_attributes: { vpn: 'no' } },
        new: { score: 86, model: 'trust_index.1.0', attributes: { vpn: 'no' } },
      },
    ],
  },
  {
    vendor,
    date: '2020-09-14_1.691.0',
    what: '`report_requested` became a list, `reports_requested`.',
    schemas: `
 VerificationPdf:
   type: object
-  required: [report_requested]
+  required: [reports_requested]
   properties:
-    report_requested: { type: string, enum: [voa, income] }
+    reports_requested: { type: array, items: { type: string, enum: [voa, income] } }
`,
    use: 'request',
    lens: `v.wrapped(['VerificationPdf'], 'report_requested', 'reports_requested', { loss: 'drop' })`,
    values: [{ old: { report_requested: 'voa' }, new: { reports_requested: ['voa'] } }],
  },
  {
    vendor,
    date: '2020-09-14_1.695.0',
    what: '`http_code` of an error is an integer, not a string.',
    schemas: `
 RequiredError:
   type: object
   required: [error_code, http_code]
   properties:
     error_code: { type: string }
-    http_code: { type: string }
+    http_code: { type: integer }
`,
    use: 'response',
    lens: `v.convert(['RequiredError'], 'http_code', { up: Number, down: String })`,
    values: [
      {
        old: { error_code: 'RECAPTCHA', http_code: '400' },
        new: { error_code: 'RECAPTCHA', http_code: 400 },
      },
    ],
  },
]
