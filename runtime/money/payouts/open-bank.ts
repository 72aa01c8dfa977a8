/** Opens the bank that pays out dollars: the one in the settings, or the fake bank in this process. */
import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { createOutbound } from '../../events/outbound/outbound.ts'
import { parseNetworks } from '../../platform/networks.ts'
import type { Settings } from '../../platform/settings.ts'
import { type Bank, createBank } from './bank-client.ts'

export interface OpenBank {
  /** Undefined in production if no bank is configured. Payouts in USD then stay pending. */
  readonly bank: Bank | undefined
  close(): Promise<void>
}

/** Opens the bank, for processes that run workers. Outside production, starts the fake bank if none is configured. */
export async function openBank(
  { bank: set, production, dnsServers }: Pick<Settings, 'bank' | 'production' | 'dnsServers'>,
  log: Logger,
): Promise<OpenBank> {
  if (!set && production) {
    log.warn('Payouts in usd stay pending because SVC_BANK_URL is not set.')
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
  // Imported only here, so that production never loads the fake bank.
  const { startBankStandIn } = await import('./fake-bank.ts')
  const token = randomBytes(32).toString('base64url')
  const standIn = await startBankStandIn(token)
  log.info({ url: standIn.url }, 'The fake bank is running, because SVC_BANK_URL is not set.')
  return open({ url: standIn.url, token }, standIn.close)
}
