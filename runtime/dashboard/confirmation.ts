/** Checks the codes with which members confirm forms. `ACTIONS` lists the forms that require a code. */
import { createHash } from 'node:crypto'
import type { Request } from 'express'
import type { CodedAction } from './actions.ts'
import { CODE_FIELD, formField, GUARD_FIELD } from './html/forms.ts'
import { confirm, type FormSender, type OwnParts } from './sign-in/own-credentials.ts'
import { writeMemberEntries } from './sign-in/telling.ts'

/** The format of IDs, the only values that the audit log accepts as a target. */
const IDENTIFIER = /^[a-z]{2,5}_[0-9a-z]{26}$/

/**
 * Whether the form contains a valid, unused code of the member who submitted it. A wrong code is counted, and the audit logs of both
 * environments record it. A form without a code is not counted.
 *
 * @param target the ID in the form's path, if any.
 */
export async function isConfirmed(
  parts: OwnParts,
  sender: FormSender,
  { takes, audit: action, once }: CodedAction,
  target: string,
  request: Request,
): Promise<boolean> {
  const code = formField(request, CODE_FIELD)
  if (code === '') return false
  const password = takes === 'code and password' ? formField(request, 'current') : undefined
  const formHash = once ? undefined : hashForm(request)
  if (await confirm(parts, sender, { code, password, formHash })) return true
  const { tenantId, memberId: actorId, ip } = sender
  const targetId = IDENTIFIER.test(target) ? target : null
  const told = { action, targetId, outcome: 'failed', actorId, ip } as const
  await parts.operator.control.transaction((tx) => writeMemberEntries(parts.operator, tx, tenantId, told))
  return false
}

/** Hashes the URL and the fields of the form, except the CSRF token, which differs on each page load. */
function hashForm({ originalUrl, body }: Request): Buffer {
  const fields = Object.entries((body ?? {}) as object).filter(([name]) => name !== GUARD_FIELD)
  return createHash('sha256')
    .update(JSON.stringify([originalUrl, fields.toSorted(([a], [b]) => (a < b ? -1 : 1))]))
    .digest()
}
