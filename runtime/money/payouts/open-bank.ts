/** Which bank pays dollars out: that of the settings, or a stand-in of this process. */
import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { createOutbound } from '../../events/outbound/outbound.ts'
import { parseNetworks } from '../../platform/networks.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Bank, createBank } from './bank-client.ts'

export interface OpenBank {
  /** Absent where nobody pays: in production without a bank. */
  readonly bank: Bank | undefined
  close(): Promise<void>
}

/** Of a process that works. Starts a stand-in where no bank is set, outside of production. */
export async function openBank(
  { bank: set, production, dnsServers }: Pick<Settings, 'bank' | 'production' | 'dnsServers'>,
  log: Logger,
): Promise<OpenBank> {
  if (!set && production) {
    log.warn('payouts in usd stay pending: SVC_BANK_URL is not set')
    return { bank: undefined, close: async () => {} }
  }
  const outbound = createOutbound({
    allowPlainHttp: !production,
    dnsServers,
    allow: parseNetworks(production ? [] : ['127.0.0.0/8', '::1/128']),
    userAgent: 'svc-payouts/1',
  })
  const open = (address: NonNullable<Settings['bank']>, stop = async () => {}): OpenBank => ({
    bank: createBank({ ...address, outbound }),
    close: async () => {
      outbound.close()
      await stop()
    },
  })
  if (set) return open(set)
  // Loaded here alone: in production nothing stands in for the bank.
  const { startBankStandIn } = await import('./fake-bank.ts')
  const token = randomBytes(32).toString('base64url')
  const standIn = await startBankStandIn(token)
  log.info({ url: standIn.url }, 'a stand-in takes the place of the bank')
  return open({ url: standIn.url, token }, standIn.close)
}
