/**
 * A fake APNs in a process of its own, over TLS, as Apple's is: it checks each push, and counts the devices that were
 * told. Its parent sends a number of devices; it answers each time that a quarter more of them has been told.
 */
import { createPublicKey } from 'node:crypto'
import { startApplePush } from '../../runtime/passes/wallets/fakes/apple-push.ts'

/** Answer to the parent. */
export interface Told {
  /** Devices that were told, and pushes to them. */
  readonly devices: number
  readonly pushes: number
}

const { cert, key, publicKey, keyId, teamId, topic } = JSON.parse(process.env.FAN_OUT_APNS!)
const told = new Set<string>()
let [pushes, expected] = [0, 0]

const server = await startApplePush({
  topics: [topic],
  keys: { [keyId]: { teamId, key: createPublicKey(publicKey) } },
  tls: { cert, key },
  remembered: 0,
})
server.onPush(({ token }) => {
  pushes += 1
  if (told.has(token)) return
  told.add(token)
  if (told.size % Math.ceil(expected / 4) === 0 || told.size === expected)
    process.send!({ devices: told.size, pushes } satisfies Told)
})
process.on('message', (devices: number) => {
  told.clear()
  pushes = 0
  expected = devices
  process.send!({ devices: 0, pushes } satisfies Told)
})
process.on('disconnect', () => process.exit())
process.send!(server.url)
