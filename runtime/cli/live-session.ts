/** The live side of what goes from the sandbox to live: its own key and address, beside those of the sandbox. */
import { type Command, Option } from 'commander'
import type { Client } from '../../generated/client/src/2026-05-19/index.ts'
import { baseUrlOf, MisuseError, openSession, readHttpUrl, type SvcSession } from './svc-session.ts'
import { CommandError } from './terminal/failures.ts'

export interface LiveOptions {
  readonly liveApiKey?: string | undefined
  readonly liveBaseUrl?: string | undefined
}

/** Has the command take the key and the address of live. */
export function takeLive(command: Command): Command {
  return command
    .addOption(new Option('--live-api-key <key>', 'a live secret key, scope admin').env('SVC_LIVE_API_KEY'))
    .addOption(
      new Option('--live-base-url <url>', `where the API of live is (default: ${baseUrlOf('live')})`).env(
        'SVC_LIVE_BASE_URL',
      ),
    )
}

type CreatePromotion = Client['createPromotion']
type PromotionOrder = Parameters<CreatePromotion>[0]['body']
export type LivePromotion = Awaited<ReturnType<CreatePromotion>>

/** Live, asked on behalf of both keys. */
export interface LiveSession {
  readonly baseUrl: string
  /** Rejects with a `CommandError` that names the address of live. */
  promote(order: Omit<PromotionOrder, 'dry_run'> & { readonly dry_run?: boolean }): Promise<LivePromotion>
}

/** @throws MisuseError unless the session is a key's of the sandbox, and the live key and address can be such. */
export function openLive(sandbox: SvcSession, { liveApiKey, liveBaseUrl }: LiveOptions): LiveSession {
  if (sandbox.profile)
    throw new MisuseError('this takes the sandbox’s key: give --api-key, or set SVC_API_KEY')
  if (sandbox.environment !== 'sandbox') {
    throw new MisuseError('--api-key is a live key: give the sandbox’s there, and this as --live-api-key')
  }
  if (!liveApiKey) {
    throw new MisuseError('there is no key of live: give --live-api-key, or set SVC_LIVE_API_KEY')
  }
  // Before `openSession`, which would speak of --base-url.
  const baseUrl = readHttpUrl('--live-base-url', liveBaseUrl ?? baseUrlOf('live')).href
  const live = openSession({ apiKey: liveApiKey, baseUrl })
  if (live.environment !== 'live') throw new MisuseError('--live-api-key is a key of the sandbox')
  const { bearer } = sandbox
  return {
    baseUrl: live.baseUrl,
    promote: async (order) => {
      const header = { 'Service-Sandbox-Authorization': `Bearer ${await bearer()}` }
      try {
        return await live.client.createPromotion({ header, body: { dry_run: false, ...order } })
      } catch (cause) {
        throw new CommandError(live.baseUrl, cause)
      }
    },
  }
}
