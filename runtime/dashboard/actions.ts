/** The list of all console forms, with the proof of identity that each requires. */
import type { Environment } from '../platform/environment.ts'

/**
 * Requirements of a form:
 *
 * - `credentials`: no session; the form itself contains the credentials.
 * - `session`: the session of a member with the required role.
 * - `code`: a session and a new code from the member's authenticator app. Actions that grant or extend access require it.
 * - `code in live`: a code in live; only a session in the sandbox.
 * - `code and password`: a session, a new code, and the member's password in the field `current`.
 */
export type ConsoleAction =
  | { readonly takes: 'credentials' | 'session' }
  | {
      readonly takes: 'code' | 'code in live' | 'code and password'
      /** Action of the audit entry that is written for a wrong code. */
      readonly audit: string
      /** The code confirms one submission. Otherwise a form that is submitted twice is confirmed twice by its code. */
      readonly once?: true
    }

const CREDENTIALS: ConsoleAction = { takes: 'credentials' }
const SESSION: ConsoleAction = { takes: 'session' }

const code = (
  audit: string,
  takes: 'code' | 'code in live' | 'code and password' = 'code',
): ConsoleAction => ({
  takes,
  audit,
})

/** Actions by Express path. Dashboard paths omit the environment prefix. */
export const ACTIONS: Readonly<Record<string, ConsoleAction>> = {
  // Pages outside the dashboard.
  '/sign-in': CREDENTIALS,
  '/sign-in/passkey': CREDENTIALS,
  '/sign-out': SESSION,
  '/send-again': SESSION,
  '/challenges/:token': CREDENTIALS,
  '/invitations/:link': CREDENTIALS,
  '/oauth/token': CREDENTIALS,
  '/oauth/revoke': CREDENTIALS,
  '/oauth/consent/:uid': code('connected_app.allowed'),

  // Account settings.
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
  preferences: SESSION,
  'views/save': SESSION,
  'views/rename': SESSION,
  'views/delete': SESSION,
  'audit-log/verify': SESSION,
  reset: code('sandbox.wiped'),
  'promotions/plan': SESSION,
  'promotions/:id/apply': code('promotion.created'),

  // Destinations of events and payouts.
  'webhook-endpoints/new': code('webhook_endpoint.created', 'code in live'),
  'webhook-endpoints/:id/enable': code('webhook_endpoint.updated', 'code in live'),
  'webhook-endpoints/:id/rotate': code('webhook_endpoint_secret.rotated'),
  'webhook-endpoints/:id/disable': SESSION,
  'webhook-endpoints/bulk/enable': code('webhook_endpoint.updated', 'code in live'),
  'webhook-endpoints/bulk/disable': SESSION,
  'webhook-endpoints/:id/delete': SESSION,
  'webhook-endpoints/:id/test': SESSION,
  'sandboxes/new': code('sandbox.created'),
  'sandboxes/:id/key': code('sandbox_key.created'),
  'sandboxes/:id/rename': SESSION,
  'sandboxes/:id/snapshot': SESSION,
  'sandboxes/:id/delete': SESSION,
  'sandboxes/:id/snapshots/:snapshot/restore': SESSION,
  'sandboxes/:id/snapshots/:snapshot/delete': SESSION,
  'sandboxes/:id/use': SESSION,
  'webhook-endpoints/:id/change': SESSION,
  'webhook-endpoints/:id/skip': SESSION,
  'webhook-endpoints/:id/recover': SESSION,
  'webhook-endpoints/:id/recoveries/:recovery/cancel': SESSION,
  'webhook-endpoints/:id/attempts/:attempt/retry': SESSION,
  'payout-destinations/new': code('payout_destination.created'),
  'payout-destinations/:id/make-default': code('payout_destination.updated'),
  'payout-destinations/:id/disable': SESSION,

  // Passes, cards, and payouts.
  'pass-templates/new': SESSION,
  'pass-templates/:id/edit': SESSION,
  'pass-templates/:id/archive': SESSION,
  'pass-templates/:id/test-pass': SESSION,
  'passes/new': SESSION,
  'passes/upload': SESSION,
  'passes/:id/change': SESSION,
  'passes/:id/step': SESSION,
  'passes/:id/scan': SESSION,
  'passes/:id/archive': SESSION,
  'passes/:id/revoke': SESSION,
  'passes/bulk/revoke': SESSION,
  'cardholders/new': SESSION,
  'cardholders/:id/change': SESSION,
  'cardholders/:id/deactivate': SESSION,
  'cardholders/:id/activate': SESSION,
  'cardholders/:id/screen': SESSION,
  'sanctions-alerts/:id/resolve': SESSION,
  'card-programs/new': SESSION,
  'card-programs/:id/change': SESSION,
  'spending-control-drafts/new': SESSION,
  'spending-control-drafts/:id/change': SESSION,
  'spending-control-drafts/:id/backtest': SESSION,
  'passes/:id/message': SESSION,
  'pass-message-batches/new': SESSION,
  'pass-message-batches/:id/cancel': SESSION,
  'spending-control-drafts/:id/shadow': SESSION,
  'spending-control-drafts/:id/end-shadow': SESSION,
  'spending-control-drafts/:id/promote': code('spending_control_draft.promoted'),
  'spending-control-drafts/:id/roll-back': code('spending_control_draft.reverted'),
  'spending-control-drafts/:id/archive': SESSION,
  'cards/new': SESSION,
  'cards/:id/activate': SESSION,
  'cards/:id/freeze': SESSION,
  'cards/:id/unfreeze': SESSION,
  'cards/bulk/freeze': SESSION,
  'cards/bulk/unfreeze': SESSION,
  'cards/:id/limit': SESSION,
  'cards/:id/cancel': SESSION,
  'cards/:id/reveal': { takes: 'code', audit: 'card_details.viewed', once: true },
  'card-transactions/:id/release': SESSION,
  'disputes/new': SESSION,
  'disputes/:id/evidence': SESSION,
  'disputes/:id/submit': SESSION,
  'disputes/:id/withdraw': SESSION,
  'payouts/new': SESSION,
  'payouts/:id/cancel': SESSION,
  'reports/new': SESSION,
  'balance/alert': SESSION,

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
  'simulator/backtest-failure': SESSION,
  'simulator/funding': SESSION,
  'simulator/clock': SESSION,
  'simulator/settlement-failure': SESSION,
  'simulator/payout-failure': SESSION,
  'simulator/payout-return': SESSION,
  'simulator/faults': SESSION,
  'simulator/end-faults': SESSION,
}

/** Returns the action of the form at an Express path, or undefined if no form is submitted to this path. */
export function findAction(path: string): ConsoleAction | undefined {
  return ACTIONS[path.replace(/^\/(?:sandbox|live)\//, '')]
}

/** Returns the action of the form at an Express path. @throws if `ACTIONS` does not list the path. */
export function actionOf(path: string): ConsoleAction {
  const action = findAction(path)
  if (!action)
    throw new Error(
      `${path} is missing in ACTIONS: add the path and its requirement to runtime/dashboard/actions.ts`,
    )
  return action
}

/** An action that requires a code from the member's authenticator app. */
export type CodedAction = Extract<ConsoleAction, { readonly audit: string }>

/** Whether the action requires a code in the environment. */
export function takesCode(action: ConsoleAction, environment: Environment): action is CodedAction {
  return 'audit' in action && (action.takes !== 'code in live' || environment === 'live')
}
