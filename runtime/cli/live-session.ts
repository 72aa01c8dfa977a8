/** The live environment for commands that use both environments: a second API key and address. */
import { type Command, Option } from 'commander'
import type { Client } from '../../generated/client/src/2026-05-19/index.ts'
import { baseUrlOf, MisuseError, openSession, readHttpUrl, type SvcSession } from './svc-session.ts'
import { CommandError } from './terminal/failures.ts'

export interface LiveOptions {
  readonly liveApiKey?: string | undefined
  readonly liveBaseUrl?: string | undefined
}

/** Creates the option for the live API key. */
export const liveKeyOption = (): Option =>
  new Option('--live-api-key <key>', 'live secret key with the scope admin').env('SVC_LIVE_API_KEY')

/** Adds the options for the live API key and address. */
export function takeLive(command: Command): Command {
  return command
    .addOption(liveKeyOption())
    .addOption(
      new Option('--live-base-url <url>', `address of the live API (default: ${baseUrlOf('live')})`).env(
        'SVC_LIVE_BASE_URL',
      ),
    )
}

type CreatePromotion = Client['createPromotion']
type PromotionOrder = Parameters<CreatePromotion>[0]['body']
export type LivePromotion = Awaited<ReturnType<CreatePromotion>>

/** A session for requests that both the sandbox key and the live key authorize. */
export interface LiveSession {
  readonly baseUrl: string
  /** Creates a promotion. Rejects with a `CommandError` that contains the live address. */
  promote(order: Omit<PromotionOrder, 'dry_run'> & { readonly dry_run?: boolean }): Promise<LivePromotion>
}

export const noLiveKey = (): MisuseError =>
  new MisuseError('the live API key is missing: use --live-api-key, or set SVC_LIVE_API_KEY')

/**
 * Opens the live session.
 * @throws MisuseError unless the session uses a sandbox key and the live key and address are valid.
 */
export function openLive(sandbox: SvcSession, { liveApiKey, liveBaseUrl }: LiveOptions): LiveSession {
  if (sandbox.profile)
    throw new MisuseError('this command needs a sandbox API key: use --api-key, or set SVC_API_KEY')
  if (sandbox.environment !== 'sandbox') {
    throw new MisuseError(
      '--api-key is a live key: use a sandbox key there, and the live key as --live-api-key',
    )
  }
  if (!liveApiKey) throw noLiveKey()
  // Checked before `openSession`, whose error would name --base-url.
  const baseUrl = readHttpUrl('--live-base-url', liveBaseUrl ?? baseUrlOf('live')).href
  const live = openSession({ apiKey: liveApiKey, baseUrl })
  if (live.environment !== 'live') throw new MisuseError('--live-api-key is a sandbox key: use a live key')
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
