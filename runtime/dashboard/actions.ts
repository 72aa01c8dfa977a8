/** Every form of the console, and what it takes: the one list of what a session alone may do. */
import type { Environment } from '../platform/environment.ts'

/**
 * What a form takes:
 *
 * - `credentials`: the sender proves who they are with the form itself; there is no session.
 * - `session`: a session of a member with the role.
 * - `code`: a fresh code of the member's authenticator app beside the session. Whatever gives or widens power takes one.
 * - `code in live`: the same in live; in the sandbox a session is enough.
 * - `code and password`: a fresh code and the member's password, in the field `current`.
 */
export type ConsoleAction =
  | { readonly takes: 'credentials' | 'session' }
  | {
      readonly takes: 'code' | 'code in live' | 'code and password'
      /** Action of the audit entry that a wrong code leaves. */
      readonly audit: string
    }

const CREDENTIALS: ConsoleAction = { takes: 'credentials' }
const SESSION: ConsoleAction = { takes: 'session' }

/** @param takes of the form. @param audit action of the audit entry that a wrong code leaves. */
const code = (
  audit: string,
  takes: 'code' | 'code in live' | 'code and password' = 'code',
): ConsoleAction => ({
  takes,
  audit,
})

/** By path, as Express reads it; the environment that begins a path of the dashboard is left out. */
export const ACTIONS: Readonly<Record<string, ConsoleAction>> = {
  // Pages outside of the dashboard.
  '/sign-in': CREDENTIALS,
  '/sign-in/passkey': CREDENTIALS,
  '/sign-out': SESSION,
  '/send-again': SESSION,
  '/challenges/:token': CREDENTIALS,
  '/invitations/:link': CREDENTIALS,
  '/oauth/token': CREDENTIALS,
  '/oauth/revoke': CREDENTIALS,
  '/oauth/consent/:uid': code('connected_app.allowed'),

  // The account.
  'keys/new': code('key.created'),
  'keys/:id/rotate': code('key.rotated'),
  'keys/:id/revoke': SESSION,
  version: code('pin.set', 'code in live'),
  'version/rehearsal': SESSION,
  'members/invite': code('invitation.created'),
  'members/:id/role': code('member.role_changed'),
  'members/:id/remove': code('member.removed'),
  'members/invitations/:id/withdraw': SESSION,
  'connected-apps/:id/disconnect': code('connected_app.revoked'),
  'security/password': code('member.password_changed', 'code and password'),
  'security/recovery-codes': code('member.recovery_codes_made'),
  'security/passkeys': code('member.passkey_added'),
  'security/passkeys/remove': code('member.passkey_removed'),
  'sessions/:id/end': SESSION,
  'audit-log/verify': SESSION,
  reset: code('sandbox.wiped'),
  'promotions/plan': SESSION,
  'promotions/:id/apply': code('promotion.created'),

  // Where events and money go.
  'webhook-endpoints/new': code('webhook_endpoint.created', 'code in live'),
  'webhook-endpoints/:id/enable': code('webhook_endpoint.updated', 'code in live'),
  'webhook-endpoints/:id/rotate': code('webhook_endpoint_secret.rotated'),
  'webhook-endpoints/:id/disable': SESSION,
  'webhook-endpoints/:id/delete': SESSION,
  'webhook-endpoints/:id/test': SESSION,
  'webhook-endpoints/:id/attempts/:attempt/retry': SESSION,
  'payout-destinations/new': code('payout_destination.created'),
  'payout-destinations/:id/make-default': code('payout_destination.updated'),
  'payout-destinations/:id/disable': SESSION,

  // What the account works with.
  'pass-templates/new': SESSION,
  'pass-templates/:id/edit': SESSION,
  'pass-templates/:id/archive': SESSION,
  'passes/new': SESSION,
  'passes/upload': SESSION,
  'passes/:id/revoke': SESSION,
  'cardholders/new': SESSION,
  'cardholders/:id/change': SESSION,
  'cardholders/:id/deactivate': SESSION,
  'cardholders/:id/activate': SESSION,
  'cardholders/:id/screen': SESSION,
  'sanctions-alerts/:id/resolve': SESSION,
  'card-programs/new': SESSION,
  'card-programs/:id/change': SESSION,
  'cards/new': SESSION,
  'cards/:id/activate': SESSION,
  'cards/:id/freeze': SESSION,
  'cards/:id/unfreeze': SESSION,
  'cards/:id/limit': SESSION,
  'cards/:id/cancel': SESSION,
  'card-transactions/:id/release': SESSION,
  'disputes/new': SESSION,
  'disputes/:id/evidence': SESSION,
  'disputes/:id/submit': SESSION,
  'disputes/:id/withdraw': SESSION,
  'payouts/new': SESSION,
  'payouts/:id/cancel': SESSION,
  'reports/new': SESSION,

  // The simulator.
  'simulator/install': SESSION,
  'simulator/uninstall': SESSION,
  'simulator/scan': SESSION,
  'simulator/authorization': SESSION,
  'simulator/decline': SESSION,
  'simulator/increment': SESSION,
  'simulator/reversal': SESSION,
  'simulator/expiry': SESSION,
  'simulator/clearing': SESSION,
  'simulator/refund': SESSION,
  'simulator/force-post': SESSION,
  'simulator/shipping': SESSION,
  'simulator/sanctions-match': SESSION,
  'simulator/dispute-outcome': SESSION,
  'simulator/funding': SESSION,
  'simulator/clock': SESSION,
  'simulator/settlement-failure': SESSION,
  'simulator/payout-failure': SESSION,
  'simulator/payout-return': SESSION,
}

/** The action of a form that is sent to a path, as Express reads it; undefined if the path takes no form. */
export function findAction(path: string): ConsoleAction | undefined {
  return ACTIONS[path.replace(/^\/(?:sandbox|live)\//, '')]
}

/** The same of a path that a form is sent to. @throws where the list has none: it must be there before it is served. */
export function actionOf(path: string): ConsoleAction {
  const action = findAction(path)
  if (!action) throw new Error(`${path} is not in ACTIONS of runtime/dashboard/actions.ts: add what it takes`)
  return action
}

/** An action that takes a code of the member's app. */
export type CodedAction = Extract<ConsoleAction, { readonly audit: string }>

/** Whether the action takes a code in the environment. */
export function takesCode(action: ConsoleAction, environment: Environment): action is CodedAction {
  return 'audit' in action && (action.takes !== 'code in live' || environment === 'live')
}
