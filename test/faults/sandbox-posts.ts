/** POSTs of named sandboxes. */

import { administer } from '../support/server.ts'
import type { Post } from './post.ts'

/** Earlier rounds have made as many as a tenant may have. */
const forget = (tenantId: string) => `DELETE FROM sandbox.sandboxes WHERE tenant_id = '${tenantId}'`

export const SANDBOX_POSTS: readonly Post[] = [
  {
    operation: 'createSandbox',
    environment: 'sandbox',
    status: 201,
    audit: ['key.created', 'sandbox.created'],
    events: ['sandbox.created'],
    prepare: async (_send, { database, tenantId }) => {
      await administer(database.url, forget(tenantId))
      const id = crypto.randomUUID()
      return { path: '/v1/sandboxes', body: { name: id }, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.sandboxes x
               JOIN control.keys k ON k.tenant_id = x.tenant_id AND k.space = x.space
              WHERE x.tenant_id = $1 AND x.name = $2`,
    once: 1,
  },
  {
    operation: 'createSandboxKey',
    environment: 'sandbox',
    status: 201,
    audit: ['key.created', 'sandbox_key.created'],
    events: [],
    prepare: async (send, { database, tenantId }) => {
      await administer(database.url, forget(tenantId))
      const { id } = (await send('/v1/sandboxes', { body: { name: 'Crash' } })).body
      return { path: `/v1/sandboxes/${id}/keys`, body: {}, id }
    },
    // The first key came with the sandbox.
    effect: `SELECT count(*) - 1 AS count FROM sandbox.sandboxes x
               JOIN control.keys k ON k.tenant_id = x.tenant_id AND k.space = x.space
              WHERE x.tenant_id = $1 AND x.id = $2`,
    once: 1,
  },
  {
    operation: 'createSandboxSnapshot',
    environment: 'sandbox',
    status: 201,
    audit: ['sandbox_snapshot.created'],
    events: [],
    prepare: async (send, { database, tenantId }) => {
      await administer(database.url, forget(tenantId))
      const { id } = (await send('/v1/sandboxes', { body: { name: 'Crash' } })).body
      return { path: `/v1/sandboxes/${id}/snapshots`, body: { name: 'Crash' }, id }
    },
    effect:
      'SELECT count(*) AS count FROM sandbox.sandbox_snapshots WHERE tenant_id = $1 AND sandbox_id = $2',
    once: 1,
  },
  {
    operation: 'restoreSandboxSnapshot',
    environment: 'sandbox',
    status: 200,
    audit: ['sandbox_snapshot.restored'],
    events: [],
    prepare: async (send, { database, tenantId }) => {
      await administer(database.url, forget(tenantId))
      const { id } = (await send('/v1/sandboxes', { body: { name: 'Crash' } })).body
      const snapshot = (await send(`/v1/sandboxes/${id}/snapshots`, { body: { name: 'Crash' } })).body
      await administer(
        database.url,
        `UPDATE sandbox.sandbox_snapshots SET status = 'done', space = '${tenantId}' WHERE id = '${snapshot.id}'`,
      )
      return { path: `/v1/sandboxes/${id}/snapshots/${snapshot.id}/restore`, body: {}, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.sandboxes WHERE tenant_id = $1 AND id = $2 AND restoring IS NOT NULL`,
    once: 1,
  },
]
