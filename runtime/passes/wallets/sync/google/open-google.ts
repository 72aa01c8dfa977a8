/** The issuer account for Google Wallet, and the addresses of Google's services or of a fake in this process. */
import { createPublicKey } from 'node:crypto'
import type { Logger } from 'pino'
import { createOutbound, type PeerOutbound } from '../../../../events/outbound/outbound.ts'
import { parseNetworks } from '../../../../platform/networks.ts'
import type { Settings } from '../../../../platform/settings.ts'
import { type GoogleSigner, openGoogleSigner } from '../../render/google/signer.ts'

/**
 * Production addresses (Google Wallet, REST reference; Google, "Using OAuth 2.0"; Google Wallet, "Add and delete
 * callbacks").
 */
/** Number of classes and objects that the fake keeps in memory: about 15 MB. */
const REMEMBERED = 20_000

const GOOGLE = {
  wallet: 'https://walletobjects.googleapis.com',
  token: 'https://oauth2.googleapis.com/token',
  keys: 'https://pay.google.com/gp/m/issuer/keys',
}

export type GoogleUrls = typeof GOOGLE

export interface Google {
  readonly signer: GoogleSigner
  readonly outbound: PeerOutbound
  /** Absent if passes are not sent to Google: in production without a service account. */
  readonly urls: GoogleUrls | undefined
  close(): Promise<void>
}

type GoogleSettings = Pick<
  Settings,
  'dataDir' | 'googleWallet' | 'googleUrls' | 'production' | 'roles' | 'dnsServers'
>

/**
 * Reads the service account. Without one, it starts a fake Google Wallet, except in production. Throws if the account's
 * settings or key are invalid.
 */
export async function openGoogle(settings: GoogleSettings, log: Logger): Promise<Google> {
  const { googleWallet, googleUrls, production, dnsServers } = settings
  const signer = openGoogleSigner(settings)
  const allow = parseNetworks(production ? [] : ['127.0.0.0/8', '::1/128'])
  const outbound = createOutbound({ allowPlainHttp: true, dnsServers, allow, userAgent: 'svc-wallets/1' })
  const open = (urls: GoogleUrls | undefined, stop: () => Promise<void> = async () => {}): Google => ({
    signer,
    outbound,
    urls,
    close: async () => {
      outbound.close()
      await stop()
    },
  })
  if (googleWallet) return open({ ...GOOGLE, ...googleUrls })
  if (production) {
    log.warn('GOOGLE_WALLET_ISSUER is not set, so passes are not sent to Google Wallet')
    return open(undefined)
  }
  const { wallet, token, keys } = googleUrls
  if (wallet !== undefined && token !== undefined && keys !== undefined) return open({ wallet, token, keys })
  if (!settings.roles.has('worker')) {
    // An API process needs only the keys that verify callbacks. Here they are those of the fake in the worker process.
    if (keys !== undefined) return open({ ...GOOGLE, keys })
    if (settings.roles.has('api'))
      log.warn(
        'callbacks of Google Wallet get status 503: set GOOGLE_CALLBACK_KEYS_URL to the `keys` URL that the worker logs',
      )
    return open(undefined)
  }
  // Imported dynamically, so that production never loads the fake.
  const { startGoogleStandIn } = await import('../../fakes/google-wallet.ts')
  const accounts = new Map([[signer.email, createPublicKey(signer.key)]])
  const standIn = await startGoogleStandIn({
    issuerId: signer.issuerId,
    accounts,
    fetchPictures: true,
    remembered: REMEMBERED,
  })
  log.info(
    { url: standIn.urls.wallet, keys: standIn.urls.keys },
    'a fake Google Wallet is running in this process',
  )
  return open({ ...standIn.urls, ...googleUrls }, standIn.close)
}
