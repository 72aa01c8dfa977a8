/** The one check of codes that members confirm forms with. `ACTIONS` says which forms take one. */
import { createHash } from 'node:crypto'
import type { Request } from 'express'
import type { CodedAction } from './actions.ts'
import { CODE_FIELD, formField, GUARD_FIELD } from './html/forms.ts'
import { confirm, type FormSender, type OwnParts } from './sign-in/own-credentials.ts'
import { writeMemberEntries } from './sign-in/telling.ts'

/** What the audit log names as its target. */
const IDENTIFIER = /^[a-z]{2,5}_[0-9a-z]{26}$/

/**
 * Whether a form came with a fresh code of the member who sent it. A wrong one is counted, and the audit logs of both
 * environments record it; a form without a code is not a guess.
 *
 * @param target of what was asked for, as the form's address names it.
 */
export async function isConfirmed(
  parts: OwnParts,
  sender: FormSender,
  { takes, audit: action }: CodedAction,
  target: string,
  request: Request,
): Promise<boolean> {
  const code = formField(request, CODE_FIELD)
  if (code === '') return false
  const password = takes === 'code and password' ? formField(request, 'current') : undefined
  if (await confirm(parts, sender, { code, password, formHash: hashForm(request) })) return true
  const { tenantId, memberId: actorId, ip } = sender
  const targetId = IDENTIFIER.test(target) ? target : null
  const told = { action, targetId, outcome: 'failed', actorId, ip } as const
  await parts.operator.control.transaction((tx) => writeMemberEntries(parts.operator, tx, tenantId, told))
  return false
}

/** Of where the form goes and all that was filled in: what proves that a page of ours sent it is made anew on each page. */
function hashForm({ originalUrl, body }: Request): Buffer {
  const fields = Object.entries((body ?? {}) as object).filter(([name]) => name !== GUARD_FIELD)
  return createHash('sha256')
    .update(JSON.stringify([originalUrl, fields.toSorted(([a], [b]) => (a < b ? -1 : 1))]))
    .digest()
}
