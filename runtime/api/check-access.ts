/** Whether a key may be used at all by who uses it from where, and for this operation. */

import type { OperationExtensions } from '../contract.ts'
import type { Credential } from '../platform/keys/keyring.ts'
import { contains } from '../platform/networks.ts'
import { forbidden } from './errors.ts'
import type { Allowed, Authenticated, Authorized, Trusted } from './exchange.ts'

/** Whether the key may be used from where it is used, and by the member whom it belongs to. */
export function checkHolder(exchange: Authenticated): Trusted {
  const { address, credential } = exchange
  checkAddress(credential, address)
  checkRole(credential)
  return exchange as Trusted
}

function checkAddress({ allowedIps }: Credential, address: string): void {
  if (allowedIps.length === 0 || contains(allowedIps, address)) return
  throw forbidden('ip_not_allowed', `This key may not be used from ${address}.`)
}

/** A key works for as long as the member whom it belongs to may develop. */
function checkRole({ role }: Credential): void {
  if (role !== 'viewer') return
  throw forbidden(
    'developer_role_required',
    'The member whom this key belongs to does not have the developer role.',
  )
}

const SCOPES = { any: 0, read: 1, write: 2, admin: 3 } as const
const PLANS = { trial: 0, standard: 1, enterprise: 2 } as const

/** Whether this key may call this operation. */
export function authorize(exchange: Allowed): Authorized {
  const { credential, route } = exchange
  const { extensions } = route.operation
  checkScope(credential, extensions)
  checkPlan(credential, extensions)
  checkVerification(credential, extensions)
  return exchange as Authorized
}

/** Publishable keys have no scope: what they may call is marked in the documents. */
function checkScope({ key }: Credential, { scope, publishable }: OperationExtensions): void {
  if (key.scope === null) {
    if (publishable) return
    throw forbidden('publishable_key_not_allowed', 'This operation is not open to publishable keys.')
  }
  if (SCOPES[key.scope] >= SCOPES[scope]) return
  throw forbidden('insufficient_scope', `This operation needs the scope ${scope}.`, { required_scope: scope })
}

function checkPlan({ tenant }: Credential, { plan }: OperationExtensions): void {
  if (plan === undefined || PLANS[tenant.plan] >= PLANS[plan]) return
  throw forbidden('plan_required', `This operation needs the plan ${plan}.`, { required_plan: plan })
}

function checkVerification(credential: Credential, { verified }: OperationExtensions): void {
  if (!verified || credential.environment !== 'live' || credential.verified) return
  throw forbidden(
    'business_verification_required',
    'Card and settlement writes in live wait until your business is verified.',
  )
}
