import { contains } from '../platform/networks.ts'
import { forbidden } from './errors.ts'
import type { Exchange } from './exchange.ts'

/** Step 3: whether the key may be used from where it is used. */
export function judgeAddress({ credential, address }: Exchange): void {
  const networks = credential!.allowedIps
  if (networks.length === 0 || contains(networks, address)) return
  throw forbidden('ip_not_allowed', `This key may not be used from ${address}.`)
}
