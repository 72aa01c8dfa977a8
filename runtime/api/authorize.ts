import type { OperationExtensions } from '../contract.ts'
import type { Credential } from '../platform/keys/keyring.ts'
import { forbidden } from './errors.ts'
import type { Exchange } from './exchange.ts'

const SCOPES = { any: 0, read: 1, write: 2, admin: 3 } as const
const PLANS = { trial: 0, standard: 1, enterprise: 2 } as const

/** Step 8: whether this key may call this operation. */
export function authorize({ credential, route }: Exchange): void {
  const { extensions } = route!.operation
  judgeScope(credential!, extensions)
  const { plan } = extensions
  if (plan !== undefined && PLANS[credential!.tenant.plan] < PLANS[plan]) {
    throw forbidden('plan_required', `This operation needs the plan ${plan}.`, { required_plan: plan })
  }
  if (extensions.verified && credential!.environment === 'live' && !credential!.verified) {
    throw forbidden(
      'business_verification_required',
      'Card and settlement writes in live wait until your business is verified.',
    )
  }
}

/** Publishable keys have no scope: what they may call is marked in the documents. */
function judgeScope({ key }: Credential, { scope, publishable }: OperationExtensions): void {
  if (key.scope === null) {
    if (publishable) return
    throw forbidden('publishable_key_not_allowed', 'This operation is not open to publishable keys.')
  }
  if (SCOPES[key.scope] >= SCOPES[scope]) return
  throw forbidden('insufficient_scope', `This operation needs the scope ${scope}.`, { required_scope: scope })
}
