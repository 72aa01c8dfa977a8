import { forbidden } from './errors.ts'
import type { Exchange } from './exchange.ts'

/** Step 4: a key works for as long as the member whom it belongs to may develop. */
export function judgeRole({ credential }: Exchange): void {
  if (credential!.role !== 'viewer') return
  throw forbidden(
    'developer_role_required',
    'The member whom this key belongs to does not have the developer role.',
  )
}
