import type { AccountHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import type { Context } from '../../api/handler.ts'
import type { Caller } from '../../tenants/keys/caller.ts'

export const accountHandlers = {
  async getMe({ caller }) {
    return { status: 200, body: showMe(caller) }
  },

  async updateBilling({ caller, account }, { body }) {
    const { plan, billing_email } = body
    const now = await account.changeBilling({
      ...(plan !== undefined && { plan }),
      ...(billing_email !== undefined && { billingEmail: billing_email }),
    })
    return { status: 200, body: showMe({ ...caller, tenant: { ...caller.tenant, plan: now } }) }
  },

  async rotateCredentials({ account, audit }) {
    const keys = await account.rotateKeys()
    for (const { replacesId } of keys) audit.add({ action: 'key.rotated', targetId: replacesId })
    return {
      status: 200,
      body: {
        object: 'credential_rotation',
        keys: keys.map(({ id, replacesId, secret }) => ({ id, replaces_key_id: replacesId, secret })),
      },
    }
  },

  async wipeSandbox({ account }) {
    return { status: 200, body: { object: 'wipe', deleted: await account.wipeSandbox() } }
  },
} satisfies AccountHandlers<Context>

function showMe({ tenant, environment, version, key }: Caller): components['schemas']['Me'] {
  return {
    object: 'me',
    tenant: { id: tenant.id, name: tenant.name, plan: tenant.plan },
    environment,
    version,
    key: { id: key.id, kind: key.kind, scope: key.scope },
  }
}
