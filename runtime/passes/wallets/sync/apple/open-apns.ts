import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { messageOf } from '../../../../database/errors.ts'
import type { ApplePushSettings } from '../../../../platform/wallet-settings.ts'
import { startApplePush } from '../../fakes/apple-push.ts'
import { type AppleSettings, type AppleSigner, openAppleSigner } from '../../render/apple/signer.ts'
import { type Apns, type ApnsOptions, createApns } from './apns.ts'

export interface PushSettings extends AppleSettings {
  readonly production: boolean
  readonly applePush?: ApplePushSettings
}

const APPLE = 'https://api.push.apple.com'

/**
 * Opens APNs as the settings specify; the topic is that of the pass certificate. Without Apple settings, the first push
 * starts a fake APNs in this process; in production, the function returns undefined instead.
 *
 * Throws if APPLE_PUSH_KEY is not a usable key.
 */
export function openApns(settings: PushSettings, now: () => number): Apns | undefined {
  const { applePass, applePush, production } = settings
  const key = applePush?.key && readKey(applePush.key.path)
  if (production && !applePass) return undefined
  return lazily(async () => {
    const signer = openAppleSigner(settings, now())
    const { passTypeIdentifier: topic, teamIdentifier: teamId } = signer.passType
    const url = applePush?.url ?? (applePass ? APPLE : undefined)
    if (url === undefined) return standIn(topic, teamId, now)
    const auth = key
      ? { provider: { keyId: applePush!.key!.id, teamId, key } }
      : { tls: certificateOf(signer) }
    return createApns({ url, topic, auth, now })
  })
}

/** Opens APNs at the first push, so a process that sends no pushes creates no certificate and no connection. */
function lazily(open: () => Promise<Apns>): Apns {
  let opened: Promise<Apns> | undefined
  return {
    async push(token) {
      opened ??= open()
      try {
        return await (await opened).push(token)
      } catch (error) {
        opened = undefined
        return { kind: 'stopped', reason: messageOf(error) }
      }
    },
    close: () => void opened?.then((apns) => apns.close()).catch(() => {}), // it never opened, so there is nothing to close
  }
}

function readKey(path: string): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey(readFileSync(path))
  } catch (cause) {
    throw new Error(`APPLE_PUSH_KEY: ${path} is not a private key: ${messageOf(cause)}`, { cause })
  }
  if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  throw new Error(
    `APPLE_PUSH_KEY: ${path} is not a P-256 key: expected the .p8 file that Apple issued for APNs`,
  )
}

function certificateOf({ chain, key }: AppleSigner) {
  return {
    cert: chain.map(String).join('\n'),
    key: key.export({ type: 'pkcs8', format: 'pem' }),
  }
}

async function standIn(topic: string, teamId: string, now: () => number): Promise<Apns> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keyId = 'STANDIN000'
  const keys = { [keyId]: { teamId, key: publicKey } }
  const server = await startApplePush({ topics: [topic], keys, now, remembered: 0 })
  const auth: ApnsOptions['auth'] = { provider: { keyId, teamId, key: privateKey } }
  const apns = createApns({ url: server.url, topic, auth, now })
  return {
    push: apns.push,
    close: () => {
      apns.close()
      server.close().catch(() => {}) // it is already closed
    },
  }
}
