/** Who works in the account is changed with a code of the owner who changes it: a session alone is not enough. */
import type { Visit } from '../dashboard/shape/visit.ts'
import { formField } from '../page/forms.ts'
import { confirm, type OwnParts } from '../sign-in/own-credentials.ts'
import { tell } from '../sign-in/telling.ts'

/**
 * Whether the form came with a code of the member who sent it. The audit logs tell where it did not.
 *
 * @param action as they call what was asked for. @param targetId of what it was asked for; null where there is nothing yet.
 */
export async function isConfirmed(
  { operator, member, address: ip, request }: Visit,
  parts: Pick<OwnParts, 'wrongCodes'>,
  action: string,
  targetId: string | null,
): Promise<boolean> {
  const { tenantId, memberId } = member
  if (await confirm({ ...parts, operator }, { tenantId, memberId, ip }, formField(request, 'code')))
    return true
  const told = { action, targetId, outcome: 'failed', actorId: memberId, ip } as const
  await operator.control.transaction((tx) => tell(operator, tx, tenantId, told))
  return false
}
