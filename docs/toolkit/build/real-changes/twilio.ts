import type { RealChange } from './real-change.ts'

const vendor = 'Twilio'

/** From CHANGES.md of twilio/twilio-oai: the entries marked as breaking. */
export const TWILIO: readonly RealChange[] = [
  {
    vendor,
    date: '2021-02-10',
    what: 'Sync documents no longer read the `If-Match` header.',
    note: 'The value is ignored, so the old caller’s condition is not checked.',
    paths: `
 /Documents/{Sid}:
   delete:
     operationId: deleteDocument
     parameters:
       - { name: Sid, in: path, required: true, schema: { type: string } }
-      - { name: If-Match, in: header, schema: { type: string } }
     responses:
       "204": { description: Deleted }
`,
    lens: `v.ignoredParameter('header', 'If-Match', 'deleteDocument')`,
    values: [{ old: { 'if-match': '2' }, new: {}, at: 'headers' }],
  },
  {
    vendor,
    date: '2021-04-21',
    what: '`schema_versions` of event schemas became `versions`.',
    schemas: `
 EventSchema:
   type: object
   required: [id]
   properties:
     id: { type: string }
-    schema_versions: { type: array, items: { type: integer } }
+    versions: { type: array, items: { type: integer } }
`,
    use: 'response',
    lens: `v.rename(['EventSchema'], 'schema_versions', 'versions')`,
    values: [{ old: { id: 'a', schema_versions: [1, 2] }, new: { id: 'a', versions: [1, 2] } }],
  },
  {
    vendor,
    date: '2021-05-05',
    what: '`status` of a campaign became `campaign_status`.',
    schemas: `
 Campaign:
   type: object
-  required: [status]
+  required: [campaign_status]
   properties:
-    status: { type: string }
+    campaign_status: { type: string }
`,
    use: 'response',
    lens: `v.rename(['Campaign'], 'status', 'campaign_status')`,
    values: [{ old: { status: 'VERIFIED' }, new: { campaign_status: 'VERIFIED' } }],
  },
  {
    vendor,
    date: '2021-05-19',
    what: 'Reading the campaign of a service returns a list.',
    note: 'Old callers see the first campaign. For an empty list, they see a placeholder, an empty `sid`.',
    paths: `
 /Services/{Sid}/Compliance/Usa2p:
   get:
     operationId: readUsAppToPerson
     parameters:
       - { name: Sid, in: path, required: true, schema: { type: string } }
     responses:
       "200":
         description: OK
         content:
           application/json:
             schema:
-              $ref: "#/components/schemas/Compliance"
+              type: object
+              required: [compliance]
+              properties:
+                compliance: { type: array, minItems: 1, items: { $ref: "#/components/schemas/Compliance" } }
`,
    schemas: `
 Compliance:
   type: object
   required: [sid]
   properties:
     sid: { type: string }
`,
    lens: `v.convertWhole(v.answer('readUsAppToPerson', 200), {
  up: (campaign) => ({ compliance: [campaign] }),
  down: ({ compliance: [first = { sid: '' }] }) => first,
  loss: 'drop',
})`,
    values: [{ old: { sid: 'QE1' }, new: { compliance: [{ sid: 'QE1' }, { sid: 'QE2' }] }, only: 'down' }],
  },
  {
    vendor,
    date: '2021-11-03',
    what: 'Brand registrations can have the status `DELETED`.',
    note: 'Old callers see `DELETED` as `FAILED`.',
    schemas: `
 BrandRegistration:
   type: object
   properties:
-    status: { type: string, enum: [PENDING, APPROVED, FAILED] }
+    status: { type: string, enum: [PENDING, APPROVED, FAILED, DELETED] }
`,
    use: 'response',
    lens: `v.valuesOf(['BrandRegistration'], 'status', { merge: { DELETED: 'FAILED' }, loss: 'merge' })`,
    values: [{ old: { status: 'FAILED' }, new: { status: 'DELETED' } }],
  },
  {
    vendor,
    date: '2022-02-09',
    what: '`call_state` of a participant summary became `call_status`.',
    schemas: `
 Participant:
   type: object
   properties:
-    call_state: { type: string, enum: [answered, completed] }
+    call_status: { type: string, enum: [answered, completed] }
`,
    use: 'response',
    lens: `v.rename(['Participant'], 'call_state', 'call_status')`,
    values: [{ old: { call_state: 'completed' }, new: { call_status: 'completed' } }],
  },
  {
    vendor,
    date: '2022-07-13',
    what: 'The query parameter `service_sid` of the summary of attempts became `verify_service_sid`.',
    paths: `
 /Attempts/Summary:
   get:
     operationId: fetchAttemptsSummary
     parameters:
-      - { name: ServiceSid, in: query, schema: { type: string } }
+      - { name: VerifyServiceSid, in: query, schema: { type: string } }
     responses:
       "204": { description: OK }
`,
    lens: `v.renamedParameter('query', 'ServiceSid', 'VerifyServiceSid', 'fetchAttemptsSummary')`,
    values: [{ old: { ServiceSid: 'VA1' }, new: { VerifyServiceSid: 'VA1' }, at: 'query' }],
  },
  {
    vendor,
    date: '2022-12-14',
    what: '`MessageFlow` is required to create a campaign.',
    reason: 'It describes how recipients consent to messages, so no default is correct.',
  },
  {
    vendor,
    date: '2023-05-04',
    what: 'Listing conversations no longer takes `StartDate`, `EndDate` and `State`.',
    reason: 'Without its filter, the request returns other conversations; the handler must filter them.',
  },
  {
    vendor,
    date: '2023-08-10',
    what: 'IDs of bulk hosted number orders start with `BH`, not `BHR`.',
    schemas: `
 BulkHostedNumberOrder:
   type: object
   required: [bulk_hosting_sid]
   properties:
-    bulk_hosting_sid: { type: string, pattern: "^BHR[0-9a-f]{4}$" }
+    bulk_hosting_sid: { type: string, pattern: "^BH[0-9a-f]{4}$" }
`,
    use: 'response',
    lens: `v.convert(['BulkHostedNumberOrder'], 'bulk_hosting_sid', {
  up: (sid) => sid.replace('BHR', 'BH'),
  down: (sid) => sid.replace('BH', 'BHR'),
})`,
    values: [{ old: { bulk_hosting_sid: 'BHR00ff' }, new: { bulk_hosting_sid: 'BH00ff' } }],
  },
  {
    vendor,
    date: '2023-08-24',
    what: 'A path parameter takes the ID of a participant (`UT`), not of its channel (`UO`).',
    reason: 'The request does not name the participant of the channel; the handler must look it up.',
  },
  {
    vendor,
    date: '2023-10-19',
    what: '`task_queue_data` of task queue statistics is a list, not a map.',
    schemas: `
 QueueStatistics:
   type: object
   required: [task_queue_data]
   properties:
-    task_queue_data: { type: object, additionalProperties: { $ref: "#/components/schemas/QueueData" } }
+    task_queue_data: { type: array, items: { $ref: "#/components/schemas/ListedQueueData" } }
 QueueData:
   type: object
   required: [total_tasks]
   properties:
     total_tasks: { type: integer }
+ListedQueueData:
+  type: object
+  required: [task_queue_sid, total_tasks]
+  properties:
+    task_queue_sid: { type: string }
+    total_tasks: { type: integer }
`,
    use: 'response',
    lens: `v.convert(['QueueStatistics'], 'task_queue_data', {
  up: (queues) => Object.entries(queues).map(([sid, data]) => ({ ...data, task_queue_sid: sid })),
  down: (queues) =>
    Object.fromEntries(queues.map(({ task_queue_sid, total_tasks }) => [task_queue_sid, { total_tasks }])),
  loss: 'merge',
})`,
    values: [
      {
        old: { task_queue_data: { WQ1: { total_tasks: 3 } } },
        new: { task_queue_data: [{ task_queue_sid: 'WQ1', total_tasks: 3 }] },
      },
    ],
  },
  {
    vendor,
    date: '2024-02-27',
    what: 'Lookups no longer include `live_activity`.',
    note: 'Old callers see a placeholder, null.',
    schemas: `
 Lookup:
   type: object
-  required: [phone_number, live_activity]
+  required: [phone_number]
   properties:
     phone_number: { type: string }
-    live_activity: { type: [object, "null"], properties: { connectivity: { type: string } } }
`,
    use: 'response',
    lens: `v.drop(['Lookup'], 'live_activity', { down: () => null, loss: 'drop' })`,
    values: [{ old: { phone_number: '+1', live_activity: null }, new: { phone_number: '+1' } }],
  },
  {
    vendor,
    date: '2024-05-24',
    what: 'Updating an intelligence service no longer takes `language_code`.',
    note: 'Requests can no longer set it: the value is dropped.',
    schemas: `
 ServiceUpdate:
   type: object
   properties:
     friendly_name: { type: string }
-    language_code: { type: string }
`,
    use: 'request',
    lens: `v.drop(['ServiceUpdate'], 'language_code', { loss: 'drop' })`,
    values: [{ old: { friendly_name: 'a', language_code: 'en-US' }, new: { friendly_name: 'a' } }],
  },
  {
    vendor,
    date: '2024-06-18',
    what: '`status_last_time_updated_timestamp` of a number to port became `last_updated`.',
    schemas: `
 PortIn:
   type: object
   properties:
     status: { type: string }
-    status_last_time_updated_timestamp: { type: string, format: date-time }
+    last_updated: { type: string, format: date-time }
`,
    use: 'response',
    lens: `v.rename(['PortIn'], 'status_last_time_updated_timestamp', 'last_updated')`,
    values: [
      {
        old: { status_last_time_updated_timestamp: '2024-06-18T00:00:00Z' },
        new: { last_updated: '2024-06-18T00:00:00Z' },
      },
    ],
  },
  {
    vendor,
    date: '2024-09-05',
    what: '`date_created` of a request to port is a time, not a date.',
    note: 'Old callers see the date without the time.',
    schemas: `
 PortInRequest:
   type: object
   required: [date_created]
   properties:
-    date_created: { type: string, format: date }
+    date_created: { type: string, format: date-time }
`,
    use: 'response',
    lens: `v.convert(['PortInRequest'], 'date_created', {
  up: (day) => \`\${day}T00:00:00Z\`,
  down: (time) => time.slice(0, 10),
  loss: 'merge',
})`,
    values: [{ old: { date_created: '2024-09-05' }, new: { date_created: '2024-09-05T11:30:00Z' } }],
  },
]
