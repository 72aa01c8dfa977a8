/**
 * The migrations of Apache Airflow's Execution API, which its maintainers write by hand for Cadwyn: one version for each of their
 * modules from 2025-03-26 to 2027-02-28. Each entry has the names of the version changes, what they change in the documents, the
 * lenses in place of their functions, and what those functions do, written again as the oracle. The documents describe only what a
 * migration touches. Names of version changes that a later module repeats are listed where they come first.
 *
 * Not carried by a lens:
 * - `ValidateTaskIdentityTokenClaims` types claims inside the service; no request or response has them.
 * - `IdentifyRetiredTaskStateUpdates`, and the condition of `AddArgBindingsToTIRunContext`, change what the service does, not the shape.
 * - `MovePreviousRunEndpoint` moves a parameter from the path into the query, so the old operation keeps a handler of its own, as
 *   it keeps a route of its own in Airflow.
 * - `ModifyDeferredTaskKwargsToJsonValue` also restores Python objects that are encoded by class name; the lens covers JSON values.
 * - The content type of the conflict of `UseProblemDetailsForTaskRunStateConflict`: servers send errors of all versions as one type.
 */

type Json = Readonly<Record<string, unknown>>
export type Body = Record<string, unknown>

interface ObjectSchema {
  readonly type: 'object'
  additionalProperties: false
  required: string[]
  properties: Record<string, unknown>
}

/** The parts of an OpenAPI document that migrations edit. */
export interface Documented {
  readonly paths: Record<string, Record<string, Body>>
  readonly schemas: Record<string, ObjectSchema | Json>
}

export interface Migration {
  readonly version: string
  readonly changes: readonly string[]
  readonly edit: (api: Documented) => void
  /** Source text of functions that the lenses use. */
  readonly helpers?: string
  /** By id of the dateline change: source text of its lenses. */
  readonly lenses?: Readonly<Record<string, string>>
  /** By operation, or operation and status: edits an answer as the functions for the version before this one do. */
  readonly oracle?: Readonly<Record<string, (body: Body) => Body | undefined>>
}

const TEXT = { type: 'string' }
const WHOLE = { type: 'integer' }
/** Any members: JSON of a caller. */
const OPEN = { type: 'object', additionalProperties: true }
const FLAG = { type: 'boolean' }
const JSON_VALUE = {
  anyOf: [OPEN, TEXT, { type: 'array', items: {} }, { type: 'number' }, FLAG, { type: 'null' }],
}
const ANY = {}
const orNull = <Schema extends { readonly type: string }>({ type, ...rest }: Schema) => ({
  ...rest,
  type: [type, 'null'],
})
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: Json) => ({ content: { 'application/json': { schema } } })
const list = (items: Json) => ({ type: 'array', items })

/** An object whose members are all required, except those whose name ends in `?`. */
function object(members: Json): ObjectSchema {
  const names = Object.keys(members)
  return {
    type: 'object',
    additionalProperties: false,
    required: names.filter((name) => !name.endsWith('?')),
    properties: Object.fromEntries(names.map((name) => [name.replace('?', ''), members[name]])),
  }
}

function operation(operationId: string, path: string, rest: Json = {}): Body {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: TEXT,
  }))
  const { parameters = [], ...more } = rest
  const responses = { '204': { description: 'Done.' } }
  return { operationId, parameters: [...inPath, ...(parameters as Json[])], responses, ...more }
}

const answers = (schema: Json, more: Json = {}) => ({
  responses: { '200': { description: 'What was asked for.', ...json(schema) }, ...more },
})
const takes = (schema: Json) => ({ requestBody: { required: true, ...json(schema) } })
const query = (name: string, schema: Json) => ({ name, in: 'query', schema })

/** Adds operations without a body: `GET /dags/{dag_id}`. */
const adds =
  (...lines: readonly string[]) =>
  ({ paths }: Documented) => {
    for (const line of lines) {
      const [method, path] = line.toLowerCase().split(' ') as [string, string]
      const id = line.replaceAll(/\W+/g, '_')
      paths[path] = { ...paths[path], [method]: operation(id, path) }
    }
  }

/** Adds members to an object, as `object` reads them. */
const gains =
  (name: string, members: Json) =>
  ({ schemas }: Documented) => {
    const old = schemas[name] as ObjectSchema
    const { required, properties } = object(members)
    schemas[name] = {
      ...old,
      required: [...old.required, ...required],
      properties: { ...old.properties, ...properties },
    }
  }

const all =
  (...edits: readonly Migration['edit'][]) =>
  (api: Documented) => {
    for (const edit of edits) edit(api)
  }

/** Reads, writes and deletes a value, and deletes all values. */
const stores = (...paths: readonly string[]): string[] =>
  paths.flatMap((path) => [
    `DELETE ${path}`,
    ...['GET', 'PUT', 'DELETE'].map((method) => `${method} ${path}/{key}`),
  ])

const slice = (names: Readonly<Record<string, Json>>) => ({
  parameters: Object.entries(names).map(([name, schema]) => query(name, schema)),
})

const SLICE = '/xcoms/{dag_id}/{run_id}/{task_id}/{key}/slice'
const asksSlice =
  (names: Readonly<Record<string, Json>>) =>
  ({ paths }: Documented) => {
    paths[SLICE] = { get: operation('getXComSlice', SLICE, { ...slice(names), ...answers(list(ANY)) }) }
  }

const RUN = '/task-instances/{task_instance_id}/run'
const runs =
  (conflict: Json) =>
  ({ paths }: Documented) => {
    const refused = { '409': { description: 'The task instance cannot run.', ...json(conflict) } }
    paths[RUN] = { patch: operation('runTaskInstance', RUN, answers(ref('TIRunContext'), refused)) }
  }

const PAYLOADS: Readonly<Record<string, string>> = {
  success: 'TISuccessStatePayload',
  deferred: 'TIDeferredStatePayload',
  up_for_retry: 'TIRetryStatePayload',
}
const STATE = '/task-instances/{task_instance_id}/state'
/** The payloads of a state, told apart by the state. */
const takesStates =
  (payloads: Readonly<Record<string, string>>) =>
  ({ paths }: Documented) => {
    const body = takes({
      oneOf: [...new Set(Object.values(payloads))].map(ref),
      discriminator: {
        propertyName: 'state',
        mapping: Object.fromEntries(Object.entries(payloads).map(([state, name]) => [state, ref(name).$ref])),
      },
    })
    paths[STATE] = { patch: operation('updateState', STATE, body) }
  }
const TERMINAL = (...more: readonly string[]) => ({
  type: 'string',
  enum: ['failed', 'skipped', 'removed', ...more],
})

const MAP_INDEXES = { anyOf: [WHOLE, list(WHOLE), { type: 'null' }] }

/** What the oldest version has. */
export const BASE: Documented = {
  paths: {},
  schemas: {
    DagRun: object({ dag_id: TEXT, run_id: TEXT, run_after: TEXT, start_date: TEXT, conf: OPEN }),
    TIRunContext: object({
      dag_run: ref('DagRun'),
      max_tries: WHOLE,
      upstream_map_indexes: orNull({ type: 'object', additionalProperties: WHOLE }),
      next_kwargs: orNull(object({ __type: { const: 'dict' }, __var: OPEN })),
    }),
    TaskInstance: object({ id: TEXT, task_id: TEXT, map_index: WHOLE }),
    TITerminalStatePayload: object({ state: TERMINAL(), end_date: TEXT }),
    TISuccessStatePayload: object({ state: { const: 'success' }, end_date: TEXT }),
    TIDeferredStatePayload: object({
      state: { const: 'deferred' },
      classpath: TEXT,
      'trigger_kwargs?': { anyOf: [OPEN, TEXT] },
      'next_kwargs?': OPEN,
    }),
    TIRetryStatePayload: object({ state: { const: 'up_for_retry' }, end_date: TEXT }),
    AssetEventsResponse: object({ asset_events: list(ref('AssetEventResponse')) }),
    AssetEventResponse: object({ id: WHOLE, created_dagruns: list(ref('DagRunAssetReference')) }),
    DagRunAssetReference: object({ run_id: TEXT, dag_id: TEXT }),
    TriggerDAGRunPayload: object({ 'logical_date?': TEXT, 'conf?': OPEN }),
    ClearDagRunPayload: object({ 'dry_run?': FLAG }),
  },
}
all(
  // Conflicts of other reasons are sent as they are, with the members that problem details have.
  runs({
    type: 'object',
    required: ['detail'],
    properties: { detail: ANY, title: TEXT, reason: TEXT, previous_state: orNull(TEXT) },
  }),
  asksSlice({ start: WHOLE, stop: WHOLE, step: WHOLE, offset: WHOLE }),
  ({ paths }) => {
    const [runtime, task, events] = ['runtime-checks', 'task', 'events'].map((name) => `/${name}`) as [
      string,
      string,
      string,
    ]
    const [trigger, clear, xcom] = [
      '/dag-runs/{dag_id}/{run_id}',
      '/dag-runs/{dag_id}/{run_id}/clear',
      '/xcoms/{key}',
    ]
    const payloads = Object.fromEntries(TERMINAL().enum.map((state) => [state, 'TITerminalStatePayload']))
    takesStates({ ...payloads, ...PAYLOADS })({ paths, schemas: {} })
    paths[runtime] = { post: operation('checkRuntime', runtime) }
    paths[task] = { get: operation('getTaskInstance', task, answers(ref('TaskInstance'))) }
    paths[events] = { get: operation('listAssetEvents', events, answers(ref('AssetEventsResponse'))) }
    paths[trigger!] = { post: operation('triggerDagRun', trigger!, takes(ref('TriggerDAGRunPayload'))) }
    paths[clear!] = { post: operation('clearDagRun', clear!, takes(ref('ClearDagRunPayload'))) }
    paths[xcom!] = { post: operation('setXCom', xcom!, takes({ anyOf: [TEXT, OPEN, list(ANY)] })) }
  },
)(BASE)

/** Removes members of an object that an answer may have. */
const pop = (body: unknown, ...names: readonly string[]): void => {
  if (typeof body !== 'object' || body === null) return
  for (const name of names) delete (body as Body)[name]
}
/** The functions that remove members of the run in a run's context. */
const popRun =
  (...names: readonly string[]) =>
  (body: Body) => {
    pop(body.dag_run, ...names)
    return body
  }
const popContext =
  (...names: readonly string[]) =>
  (body: Body) => {
    pop(body, ...names)
    return body
  }

/** Encodes as workers of the old version read it: dictionaries are wrapped. */
export function wrapKwargs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wrapKwargs)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, each]) => [name, wrapKwargs(each)] as const)
  return { __type: 'dict', __var: Object.fromEntries(members) }
}

const HELPERS = `
type Members = { readonly [name: string]: unknown }
const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null
const mapValues = (members: Members, turn: (value: unknown) => unknown) =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, turn(value)]))
const wrap = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(wrap)
  return isObject(value) ? { __type: 'dict', __var: mapValues(value, wrap) } : value
}
const unwrap = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unwrap)
  return isObject(value) && isObject(value.__var) ? mapValues(value.__var, unwrap) : value
}
`

export const MIGRATIONS: readonly Migration[] = [
  {
    version: '2025-03-26',
    changes: ['RemoveTIRuntimeChecksEndpoint'],
    edit: ({ paths }) => void delete paths['/runtime-checks'],
    lenses: { 'remove-runtime-checks': "v.accept('operation-removed', 'checkRuntime')" },
  },
  {
    version: '2025-04-10',
    changes: ['AddConsumedAssetEventsField'],
    edit: gains('DagRun', { consumed_asset_events: list(ref('AssetEventResponse')) }),
    oracle: { runTaskInstance: popRun('consumed_asset_events') },
  },
  {
    version: '2025-04-28',
    changes: ['AddRenderedMapIndexField'],
    edit: all(
      ...['TITerminalStatePayload', ...Object.values(PAYLOADS)].map((name) =>
        gains(name, { 'rendered_map_index?': orNull(TEXT) }),
      ),
    ),
  },
  {
    version: '2025-05-20',
    changes: ['DowngradeUpstreamMapIndexes'],
    edit: ({ schemas }) => {
      const { properties } = schemas.TIRunContext as ObjectSchema
      properties.upstream_map_indexes = orNull({ type: 'object', additionalProperties: MAP_INDEXES })
    },
    lenses: {
      'widen-upstream-map-indexes': `v.convert(['TIRunContext'], 'upstream_map_indexes', {
      up: (indexes) => indexes,
      down: (indexes) =>
        Object.fromEntries(
          Object.entries(indexes).map(([name, value]) => [name, (Array.isArray(value) ? value[0] : value) ?? 0]),
        ),
      loss: 'drop',
    })`,
    },
    oracle: {
      runTaskInstance(body) {
        if (typeof body.upstream_map_indexes !== 'object' || body.upstream_map_indexes === null) return body
        const downgraded: Body = {}
        for (const [name, value] of Object.entries(body.upstream_map_indexes)) {
          if (Number.isInteger(value)) downgraded[name] = value
          else if (Array.isArray(value) && value.length > 0 && value.every(Number.isInteger))
            downgraded[name] = value[0]
          else downgraded[name] = 0
        }
        body.upstream_map_indexes = downgraded
        return body
      },
    },
  },
  {
    version: '2025-05-21',
    changes: ['RemoveGetXcomFilterParamsOffset'],
    edit: asksSlice({ start: WHOLE, stop: WHOLE, step: WHOLE }),
    lenses: { 'remove-offset': "v.ignoredParameter('query', 'offset', 'getXComSlice')" },
  },
  {
    version: '2025-08-10',
    changes: ['AddDagRunStateFieldAndPreviousEndpoint', 'AddIncludePriorDatesToGetXComSlice'],
    edit: all(
      gains('DagRun', { state: TEXT }),
      asksSlice({ start: WHOLE, stop: WHOLE, step: WHOLE, include_prior_dates: FLAG }),
      ({ paths }) => {
        const path = '/dag-runs/{dag_id}/previous'
        paths[path] = { get: operation('getPreviousDagRun', path, answers(ref('DagRun'))) }
      },
    ),
    oracle: { runTaskInstance: popRun('state') },
  },
  {
    version: '2025-09-23',
    changes: ['AddDagVersionIdField', 'AcceptNullXComSetValue'],
    edit: all(gains('TaskInstance', { dag_version_id: TEXT }), ({ paths }) => {
      const body = takes({ anyOf: [TEXT, OPEN, list(ANY), { type: 'null' }] })
      paths['/xcoms/{key}'] = { post: operation('setXCom', '/xcoms/{key}', body) }
    }),
    // Its schema does not have the member, so it is not serialized.
    oracle: { getTaskInstance: popContext('dag_version_id') },
  },
  {
    version: '2025-10-27',
    changes: ['MakeDagRunConfNullable'],
    edit: ({ schemas }) => {
      const { properties } = schemas.DagRun as ObjectSchema
      properties.conf = orNull(OPEN)
    },
    lenses: { 'allow-null-conf': "v.nullable(['DagRun'], 'conf', {})" },
    oracle: {
      runTaskInstance(body) {
        const run = body.dag_run as Body
        run.conf ??= {}
        return body
      },
      // Airflow converts only the run in a context. Its schema does not allow null here either.
      getPreviousDagRun: (body) => ({ ...body, conf: body.conf ?? {} }),
    },
  },
  {
    version: '2025-11-05',
    changes: ['AddTriggeringUserNameField'],
    edit: gains('DagRun', { triggering_user_name: orNull(TEXT) }),
    oracle: {
      runTaskInstance: popRun('triggering_user_name'),
      getPreviousDagRun: popContext('triggering_user_name'),
    },
  },
  {
    version: '2025-11-07',
    changes: ['AddPartitionKeyField'],
    edit: all(
      ...['DagRun', 'AssetEventResponse', 'DagRunAssetReference'].map((name) =>
        gains(name, { partition_key: orNull(TEXT) }),
      ),
      gains('TriggerDAGRunPayload', { 'partition_key?': orNull(TEXT) }),
    ),
    oracle: {
      runTaskInstance(body) {
        const run = body.dag_run as Body
        pop(run, 'partition_key')
        popEvents(run.consumed_asset_events)
        return body
      },
      getPreviousDagRun(body) {
        pop(body, 'partition_key')
        popEvents(body.consumed_asset_events)
        return body
      },
      listAssetEvents(body) {
        popEvents(body.asset_events)
        return body
      },
    },
  },
  {
    version: '2025-12-08',
    changes: ['AddDagRunDetailEndpoint'],
    edit: ({ paths }) => {
      const path = '/dag-runs/{dag_id}/{run_id}'
      paths[path] = { ...paths[path], get: operation('getDagRun', path, answers(ref('DagRun'))) }
    },
  },
  {
    version: '2026-02-12',
    changes: ['AddBundleVersionField'],
    edit: all(
      gains('TriggerDAGRunPayload', { 'bundle_version?': orNull(TEXT) }),
      gains('DagRun', { bundle_version: orNull(TEXT) }),
    ),
    oracle: onRuns((run) => pop(run, 'bundle_version')),
  },
  {
    version: '2026-03-31',
    changes: [
      'ValidateTaskIdentityTokenClaims',
      'RemoveUpstreamMapIndexesField',
      'AddNoteField',
      'MakeDagRunStartDateNullable',
    ],
    edit: all(gains('DagRun', { note: orNull(TEXT) }), ({ schemas }) => {
      const [run, context] = [schemas.DagRun, schemas.TIRunContext] as [ObjectSchema, ObjectSchema]
      run.properties.start_date = orNull(TEXT)
      delete context.properties.upstream_map_indexes
      context.required = context.required.filter((name) => name !== 'upstream_map_indexes')
    }),
    lenses: {
      'remove-upstream-map-indexes':
        "v.drop(['TIRunContext'], 'upstream_map_indexes', { loss: 'drop', down: () => null })",
      'allow-null-start-date': `v.convertWhole('DagRun', {
      up: (run) => ({ ...run, note: null }),
      down: ({ note: _, ...run }) => ({ ...run, start_date: run.start_date ?? run.run_after }),
      loss: 'drop',
    })`,
    },
    oracle: {
      ...onRuns((run) => {
        pop(run, 'note')
        run.start_date ??= run.run_after
      }),
      runTaskInstance(body) {
        const run = body.dag_run as Body
        pop(run, 'note')
        run.start_date ??= run.run_after
        body.upstream_map_indexes = null
        return body
      },
    },
  },
  {
    version: '2026-04-06',
    changes: [
      'MovePreviousRunEndpoint',
      'ModifyDeferredTaskKwargsToJsonValue',
      'AddTaskInstanceStartDateField',
      'AddRunAfterField',
      'AddDagEndpoint',
    ],
    edit: all(
      ({ paths, schemas }) => {
        delete paths['/dag-runs/{dag_id}/previous']
        const asked = { parameters: [query('dag_id', TEXT)], ...answers(ref('DagRun')) }
        paths['/dag-runs/previous'] = { get: operation('findPreviousDagRun', '/dag-runs/previous', asked) }
        const { properties } = schemas.TIDeferredStatePayload as ObjectSchema
        properties.trigger_kwargs = JSON_VALUE
        properties.next_kwargs = JSON_VALUE
        const context = schemas.TIRunContext as ObjectSchema
        context.properties.next_kwargs = orNull(OPEN)
      },
      gains('TIRunContext', { start_date: TEXT }),
      gains('TriggerDAGRunPayload', { 'run_after?': TEXT }),
      adds('GET /dags/{dag_id}'),
    ),
    helpers: HELPERS,
    lenses: {
      'move-previous-run': "v.accept('operation-removed', 'getPreviousDagRun')",
      'encode-next-kwargs': `v.convert(['TIRunContext'], 'next_kwargs', {
      up: ({ __var }) => mapValues(__var, unwrap),
      down: (kwargs) => ({ __type: 'dict' as const, __var: mapValues(kwargs, wrap) }),
    })`,
    },
    oracle: {
      runTaskInstance(body) {
        pop(body, 'start_date')
        if (body.next_kwargs !== null) body.next_kwargs = wrapKwargs(body.next_kwargs)
        return body
      },
    },
  },
  {
    version: '2026-04-13',
    changes: ['AddDagStateEndpoint'],
    edit: adds('GET /dags/{dag_id}/state'),
  },
  {
    version: '2026-04-15',
    changes: ['AddTaskGroupMapIndexTemplateFields'],
    edit: gains('TIRunContext', {
      task_group_map_index_template: orNull(TEXT),
      task_group_expanded_args: orNull(OPEN),
    }),
    oracle: { runTaskInstance: popContext('task_group_map_index_template', 'task_group_expanded_args') },
  },
  {
    version: '2026-04-17',
    changes: ['AddTeamNameField', 'AddStateEndpoints'],
    edit: all(
      gains('DagRun', { team_name: orNull(TEXT) }),
      adds(...stores('/state/ti/{task_instance_id}', '/state/asset/by-name', '/state/asset/by-uri')),
    ),
    oracle: onRuns((run) => pop(run, 'team_name')),
  },
  {
    version: '2026-05-02',
    changes: ['AddConnectionTestEndpoint'],
    edit: adds(
      'PATCH /connection-tests/{connection_test_id}',
      'GET /connection-tests/{connection_test_id}/connection',
    ),
  },
  {
    version: '2026-06-16',
    changes: ['AddRetryPolicyFields'],
    edit: gains('TIRetryStatePayload', {
      'retry_delay_seconds?': orNull({ type: 'number' }),
      'retry_reason?': orNull(TEXT),
    }),
  },
  {
    version: '2026-06-30',
    changes: [
      'AddVariableKeysEndpoint',
      'AddTaskInstanceQueueFields',
      'AddAwaitingInputStatePayload',
      'AddPartitionDateField',
      'AddAssetsByAliasEndpoint',
      'AddTaskAndAssetStateStoreEndpoints',
    ],
    edit: all(
      adds(
        'GET /variables/keys',
        'GET /assets/by-alias',
        ...stores('/store/ti/{task_instance_id}', '/store/asset/by-name', '/store/asset/by-uri'),
      ),
      gains('DagRun', { partition_date: orNull(TEXT) }),
      gains('TaskInstance', { queue: TEXT, pool_slots: WHOLE, priority_weight: WHOLE }),
      ({ schemas }) => {
        schemas.TIAwaitingInputStatePayload = object({
          state: { const: 'awaiting_input' },
          'timeout?': orNull({ type: 'number' }),
          next_method: TEXT,
          'next_kwargs?': ANY,
          'rendered_map_index?': orNull(TEXT),
        })
      },
      takesStates({
        ...Object.fromEntries(TERMINAL().enum.map((state) => [state, 'TITerminalStatePayload'])),
        ...PAYLOADS,
        awaiting_input: 'TIAwaitingInputStatePayload',
      }),
    ),
    oracle: {
      ...onRuns((run) => pop(run, 'partition_date')),
      getTaskInstance: popContext('queue', 'pool_slots', 'priority_weight'),
    },
  },
  {
    version: '2026-07-01',
    changes: ['AddLanguageField'],
    edit: gains('TaskInstance', { language: orNull(TEXT) }),
    oracle: { getTaskInstance: popContext('language') },
  },
  {
    version: '2026-07-14',
    changes: ['AddTriggerEndpoints', 'AddJobEndpoints'],
    edit: adds(
      'POST /triggers/load',
      'POST /triggers/workloads',
      'POST /triggers/{trigger_id}/event',
      'POST /triggers/{trigger_id}/failure',
      'POST /triggers/cleanup',
      'POST /jobs',
      'POST /jobs/{job_id}/heartbeat',
      'POST /jobs/{job_id}/complete',
    ),
  },
  {
    version: '2026-08-01',
    changes: ['AddCallbackRunEndpoint'],
    edit: adds('POST /callbacks/{callback_id}/run'),
  },
  {
    version: '2026-08-10',
    changes: ['UseProblemDetailsForTaskRunStateConflict'],
    edit: runs({
      type: 'object',
      required: ['title', 'detail'],
      properties: { title: TEXT, detail: TEXT, reason: TEXT, previous_state: orNull(TEXT) },
    }),
    helpers: `
const isStateConflict = (detail: unknown): detail is Record<'reason' | 'message' | 'previous_state', string> =>
  typeof detail === 'object' && detail !== null
`,
    lenses: {
      'describe-conflicts': `v.convertWhole(v.answer('runTaskInstance', 409), {
      up: ({ title = 'Conflict', detail, ...rest }) =>
        isStateConflict(detail)
          ? { title, detail: detail.message, reason: detail.reason, previous_state: detail.previous_state }
          : { ...rest, title, detail: String(detail) },
      down: (problem) =>
        problem.reason === 'invalid_state' && problem.previous_state != null
          ? { detail: { reason: problem.reason, message: problem.detail, previous_state: problem.previous_state } }
          : problem,
      loss: 'drop',
    })`,
    },
    oracle: {
      'runTaskInstance 409'(body) {
        if (body.reason !== 'invalid_state' || (body.previous_state ?? null) === null) return body
        const { reason, detail, previous_state } = body
        return { detail: { reason, message: detail, previous_state } }
      },
    },
  },
  {
    version: '2026-09-09',
    changes: ['AddXcomBulkDeleteEndpoint'],
    edit: adds('DELETE /xcoms/{dag_id}/{run_id}'),
  },
  {
    version: '2026-09-30',
    changes: ['AddLogIdTemplateField'],
    edit: gains('TIRunContext', { log_id_template: orNull(TEXT) }),
    oracle: { runTaskInstance: popContext('log_id_template') },
  },
  {
    version: '2026-10-30',
    changes: [
      'AddStoppedTaskReport',
      'IdentifyRetiredTaskStateUpdates',
      'AddArgBindingsToTIRunContext',
      'AddDagRunNoteUpdateEndpoint',
      'AddTerminalStateRetryReasonField',
      'AddMultiTeamToTIRunContext',
      'AddXComKeysEndpoint',
      'AddPreviousIterationToXComFilterParams',
    ],
    edit: all(
      gains('TITerminalStatePayload', {
        'hostname?': orNull(TEXT),
        'pid?': orNull(WHOLE),
        'retry_reason?': orNull(TEXT),
      }),
      ({ schemas }) => {
        const { properties } = schemas.TITerminalStatePayload as ObjectSchema
        properties.state = TERMINAL('server_terminated')
      },
      takesStates({
        ...Object.fromEntries(
          TERMINAL('server_terminated').enum.map((state) => [state, 'TITerminalStatePayload']),
        ),
        ...PAYLOADS,
        awaiting_input: 'TIAwaitingInputStatePayload',
      }),
      gains('TIRunContext', { 'arg_bindings?': OPEN, multi_team: FLAG }),
      asksSlice({
        start: WHOLE,
        stop: WHOLE,
        step: WHOLE,
        include_prior_dates: FLAG,
        previous_iteration: FLAG,
      }),
      adds(
        'PATCH /task-instances/{task_instance_id}/dag-run-note',
        'POST /xcoms/{dag_id}/{run_id}/{task_id}/keys',
      ),
    ),
    oracle: { runTaskInstance: popContext('arg_bindings', 'multi_team') },
  },
  {
    version: '2026-11-13',
    changes: ['AddOnlyFailedToClearDagRunPayload'],
    edit: gains('ClearDagRunPayload', { 'only_failed?': FLAG }),
  },
  {
    version: '2026-11-30',
    changes: ['AddFailureCauseToTIRunContext'],
    edit: gains('TIRunContext', { 'failure_kind?': orNull(TEXT), 'failure_reason?': orNull(TEXT) }),
    oracle: { runTaskInstance: popContext('failure_kind', 'failure_reason') },
  },
  {
    version: '2027-02-28',
    changes: ['AddDagProcessorJobEndpoints'],
    edit: adds(
      'POST /jobs/{job_id}/parse-token',
      'POST /jobs/{job_id}/parse-results',
      'GET /jobs/{job_id}/bundles',
      'POST /jobs/{job_id}/bundles/{bundle_name}/inventory',
      'POST /jobs/{job_id}/requested-work/{kind}/claim',
      'POST /jobs/{job_id}/requested-work/{kind}/{work_id}/ack',
    ),
  },
]

function popEvents(events: unknown): void {
  for (const event of (events ?? []) as Body[]) {
    pop(event, 'partition_key')
    for (const run of event.created_dagruns as Body[]) pop(run, 'partition_key')
  }
}

/** The functions that edit a run, wherever an answer has one. */
function onRuns(edit: (run: Body) => void): NonNullable<Migration['oracle']> {
  const direct = (run: Body) => {
    edit(run)
    return run
  }
  return {
    runTaskInstance(body) {
      edit(body.dag_run as Body)
      return body
    },
    getPreviousDagRun: direct,
    getDagRun: direct,
  }
}
