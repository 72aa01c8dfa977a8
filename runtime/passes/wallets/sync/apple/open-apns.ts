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
 * The way to devices as the settings have it; Apple's certificate of passes says for which. Without anything of Apple's, a
 * stand-in is started with the first push; in production there is no way then, and undefined is given. Throws an error that says
 * what to do where the key does not fit.
 *
 * @param now machine time, milliseconds since the epoch.
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

/** Opened at the first push: a process that has nobody to tell makes no certificate and no connection. */
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
    close: () => void opened?.then((apns) => apns.close()).catch(() => {}), // it was never open
  }
}

function readKey(path: string): KeyObject {
  let key: KeyObject
  try {
    key = createPrivateKey(readFileSync(path))
  } catch (cause) {
    throw new Error(`APPLE_PUSH_KEY: ${path} is no private key: ${messageOf(cause)}`, { cause })
  }
  if (key.asymmetricKeyDetails?.namedCurve === 'prime256v1') return key
  throw new Error(`APPLE_PUSH_KEY: ${path} is no key on P-256: take the .p8 file that Apple made for APNs`)
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
  const server = await startApplePush({ topics: [topic], keys: { [keyId]: { teamId, key: publicKey } }, now })
  const auth: ApnsOptions['auth'] = { provider: { keyId, teamId, key: privateKey } }
  const apns = createApns({ url: server.url, topic, auth, now })
  return {
    push: apns.push,
    close: () => {
      apns.close()
      server.close().catch(() => {}) // it was closed already
    },
  }
}
