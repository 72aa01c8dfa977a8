import type { Detail } from 'dateline/runtime'
import type { WebhookEndpointsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { invalidState, notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { prepared } from '../../api/handler.ts'
import { checkMetadata, mergePatch } from '../../api/json/merge-patch.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { pipelined } from '../../database/pipelined.ts'
import { newId } from '../../platform/ids.ts'
import { writeInstant } from '../../platform/instants.ts'
import { emit } from '../emit/emit.ts'
import { readEvent } from '../emit/queries.ts'
import { RETIRED_FOR } from '../outbound/signing.ts'
import { readBlocks, showBlock, skipEvent } from './blocked.ts'
import { cancelAttempts } from './cancel-attempts.ts'
import { checkFilters, filtersOf } from './filters.ts'
import { keysPath } from './public-keys.ts'
import {
  deleteEndpoint,
  type EndpointRow,
  insertEndpoint,
  listEndpoints,
  lockEndpoint,
  lockEndpointCount,
  readEndpoint,
  updateEndpoint,
} from './queries.ts'

type Schemas = components['schemas']

/** Maximum number of endpoints in one environment. Bounds the attempts that one event can cause. */
export const MAX_ENDPOINTS = 100

export const webhookEndpointsHandlers = {
  createWebhookEndpoint: prepared(
    ({ destinations }, { body }: { body: Schemas['WebhookEndpointCreate'] }) => destinations.check(body.url),
    async (context, { body }, blocked) => {
      const { caller, db } = context
      const { url, description = null, metadata = {}, signature = 'service' } = body
      const {
        delivery = 'unordered',
        fifo_key = 'endpoint',
        retry_schedule = 'standard',
        filters = [],
      } = body
      const enabled_events = [...new Set(body.enabled_events)]
      requireGood([
        ...checkUrl(blocked),
        ...checkTypes(body.enabled_events),
        ...checkFilters(filters, body.enabled_events),
        ...checkKey(body),
        ...checkMetadata(metadata),
      ])
      if ((await lockEndpointCount(db, caller.space)) >= MAX_ENDPOINTS) {
        throw invalidState(`An environment has at most ${MAX_ENDPOINTS} endpoints. Delete one first.`)
      }
      const { row, secret } = await addEndpoint(context, {
        url,
        description,
        enabled_events,
        metadata,
        signature,
        delivery,
        fifo_key,
        retry_schedule,
        filters: filtersOf(filters),
      })
      return { status: 201, body: { ...(await answerEndpoint(context, row)), secret } }
    },
  ),

  listWebhookEndpoints: (context, { query }) =>
    answerList(context, query, listEndpoints, (row) => showWithKeys(context, row)),

  async getWebhookEndpoint(context, { path }) {
    const row = await readEndpoint(context.db, context.caller.space, path.whe_id)
    if (!row) throw notFound()
    return { status: 200, body: await answerEndpoint(context, row) }
  },

  updateWebhookEndpoint: prepared(
    async (
      { destinations },
      { body }: { path: { whe_id: string }; body: Schemas['WebhookEndpointUpdate'] },
    ) => (body.url === undefined ? undefined : destinations.check(body.url)),
    async (context, { path, body }, blocked) => {
      const { caller, request, db } = context
      const row = await lockEndpoint(db, caller.space, path.whe_id)
      if (!row) throw notFound()
      const changed = patch(row, body, context)
      requireGood([
        ...checkUrl(blocked),
        ...checkTypes(body.enabled_events ?? []),
        ...checkFilters(body.filters ?? [], changed.enabled_events),
        ...checkMetadata(changed.metadata),
      ])
      await updateEndpoint(db, caller.space, changed)
      if (changed.status === 'disabled' && row.status === 'enabled') {
        pipelined(cancelAttempts(db, caller.space, row.id, request.now, request.machineNow))
      }
      return { status: 200, body: await answerEndpoint(context, changed) }
    },
  ),

  async deleteWebhookEndpoint({ caller, db }, { path }) {
    if (!(await deleteEndpoint(db, caller.space, path.whe_id))) throw notFound()
    return { status: 200, body: { id: path.whe_id, object: 'webhook_endpoint', deleted: true } }
  },

  async rotateWebhookEndpointSecret(context, { path }) {
    const { caller, db, endpointSecrets } = context
    const { now } = context.request
    const row = await lockEndpoint(db, caller.space, path.whe_id)
    if (!row) throw notFound()
    const { secret, sealed } = endpointSecrets.make(caller.space, row.id, row.signature)
    const replaced = { sealed: row.secret.toString('base64'), until: now + RETIRED_FOR }
    const rotated: EndpointRow = {
      ...row,
      secret: sealed,
      // Only one: each secret adds a signature to every delivery and its bytes to every claim.
      retired_secrets: [replaced],
      updated: now,
    }
    await updateEndpoint(db, caller.space, rotated)
    return { status: 200, body: { ...(await answerEndpoint(context, rotated)), secret } }
  },

  async skipBlockedEvent(context, { path, body }) {
    const { caller, db, events, request } = context
    const row = await lockEndpoint(db, caller.space, path.whe_id)
    if (!row) throw notFound()
    const skipped = row.delivery === 'fifo' && (await readEvent(db, caller.space, body.event_id))
    if (!skipped) throw invalidState('The event does not block the endpoint.')
    if (!(await skipEvent(db, caller.space, row, skipped, request))) {
      throw invalidState(
        'The event does not block the endpoint, or is being sent right now. Retrieve the endpoint, and try again.',
      )
    }
    events.deliverSoon()
    return { status: 200, body: await answerEndpoint(context, row) }
  },

  async testWebhookEndpoint(context, { path }) {
    const { caller, db } = context
    const row = await readEndpoint(db, caller.space, path.whe_id)
    if (!row) throw notFound()
    const event = emit(context.events, {
      type: 'webhook_endpoint.test',
      data: { webhook_endpoint: showEndpoint(row) },
      recipients: { only: row.id },
    })
    if (!event) throw new Error('the version of the tenant has no event type webhook_endpoint.test')
    return { status: 201, body: JSON.parse(event.body) as Schemas['Event'] }
  },
} satisfies WebhookEndpointsHandlers<Context>

/** What the owner of an endpoint chooses. */
type EndpointContent = Pick<
  EndpointRow,
  | 'url'
  | 'description'
  | 'enabled_events'
  | 'metadata'
  | 'signature'
  | 'delivery'
  | 'fifo_key'
  | 'retry_schedule'
  | 'filters'
>

/** Writes a new endpoint, whose content was validated, and gives it a secret. */
export async function addEndpoint(
  { caller, request: { now }, db, endpointSecrets }: Context,
  content: EndpointContent,
): Promise<{ readonly row: EndpointRow; readonly secret: string }> {
  const id = newId('whe', now)
  const { secret, sealed } = endpointSecrets.make(caller.space, id, content.signature)
  const row: EndpointRow = {
    ...content,
    id,
    status: 'enabled',
    disabled_reason: null,
    secret: sealed,
    retired_secrets: [],
    generation: 0,
    timeouts: 0,
    created: now,
    updated: now,
  }
  await insertEndpoint(db, caller.space, row)
  return { row, secret }
}

function requireGood(faults: readonly Detail[]): void {
  if (faults.length > 0) throw validationFailed(faults)
}

function checkUrl(blocked: string | undefined): Detail[] {
  return blocked === undefined ? [] : [{ field: 'url', issue: blocked }]
}

/** Checks that a key is given only for an ordered endpoint. */
function checkKey({ delivery, fifo_key }: Schemas['WebhookEndpointCreate']): Detail[] {
  if (fifo_key === undefined || delivery === 'fifo') return []
  return [{ field: 'fifo_key', issue: 'must be absent unless delivery is fifo' }]
}

/** Body validation checks the types. This checks that `*` is the only entry if it is present. */
function checkTypes(types: readonly string[]): Detail[] {
  if (!types.includes('*') || types.length === 1) return []
  return [{ field: 'enabled_events', issue: 'must contain either only * or only event types' }]
}

/**
 * Applies a merge patch (RFC 7396). Keeps subscribed types that the caller's version lacks, because it cannot have
 * meant to remove them.
 */
function patch(row: EndpointRow, given: Schemas['WebhookEndpointUpdate'], context: Context): EndpointRow {
  const { url, description, enabled_events, metadata, status, signature, retry_schedule, filters } = given
  const changed = {
    ...row,
    url: url ?? row.url,
    description: description === undefined ? row.description : description,
    enabled_events: enabled_events ? replaceTypes(row, enabled_events, context) : row.enabled_events,
    metadata:
      metadata === null ? {} : (mergePatch(row.metadata, metadata ?? {}) as Readonly<Record<string, string>>),
    signature: signature ?? row.signature,
    retry_schedule: retry_schedule ?? row.retry_schedule,
    filters: filters ? filtersOf(filters) : row.filters,
    updated: context.request.now,
  }
  if (status === 'enabled' && row.status === 'disabled') {
    return { ...changed, status, disabled_reason: null, generation: row.generation + 1, timeouts: 0 }
  }
  if (status === 'disabled' && row.status === 'enabled') {
    return { ...changed, status, disabled_reason: 'manual' }
  }
  return changed
}

function replaceTypes(
  { enabled_events }: EndpointRow,
  given: readonly string[],
  { events }: Context,
): readonly string[] {
  if (given.includes('*')) return given
  const unseen = enabled_events.filter((type) => type !== '*' && !events.types.has(type))
  return [...new Set([...given, ...unseen])]
}

/** Returns an endpoint as operations on a single endpoint do: with the deliveries that block it. */
async function answerEndpoint(context: Context, row: EndpointRow): Promise<Schemas['WebhookEndpoint']> {
  const shown = showWithKeys(context, row)
  if (row.delivery !== 'fifo') return shown
  const blocks = (await readBlocks(context.db, context.caller.space, row.id)).map(showBlock)
  return {
    ...shown,
    blocked: blocks[0] ?? null,
    ...(row.fifo_key === 'object' && { blocked_keys: blocks }),
  }
}

/** Returns an endpoint with the URL of its public keys, if it has some. */
function showWithKeys({ caller, links }: Context, row: EndpointRow): Schemas['WebhookEndpoint'] {
  const shown = showEndpoint(row)
  return row.signature === 'standard_webhooks'
    ? { ...shown, jwks_url: `${links.baseUrl}${keysPath(caller.space, row.id)}` }
    : shown
}

/** Returns an endpoint in canonical form, without its secret. */
export function showEndpoint(row: EndpointRow): Schemas['WebhookEndpoint'] {
  return {
    id: row.id,
    object: 'webhook_endpoint',
    url: row.url,
    description: row.description,
    enabled_events: row.enabled_events as Schemas['WebhookEndpoint']['enabled_events'],
    status: row.status,
    disabled_reason: row.disabled_reason,
    signature: row.signature,
    delivery: row.delivery,
    ...(row.delivery === 'fifo' && { fifo_key: row.fifo_key }),
    filters: row.filters ? [...row.filters] : [],
    retry_schedule: row.retry_schedule,
    metadata: row.metadata,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}
