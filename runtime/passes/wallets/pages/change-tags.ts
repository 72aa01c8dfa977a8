import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Environment } from '../../../platform/environment.ts'
import { deriveSecret } from '../../../platform/secrets.ts'

/**
 * Reads and writes the tags that devices send back in `passesUpdatedSince` (Apple). A tag is opaque to the device. Each
 * tenant numbers its changes separately and a device can have passes of several tenants, so a tag holds one number for
 * each space.
 */
export interface ChangeTags {
  /** Writes a tag. @param seen the number of the last change by space. */
  write(deviceId: string, seen: ReadonlyMap<string, number>): string
  /**
   * Returns a function from a space to the number of the last change. Returns undefined if the tag was not issued to
   * the device, which then gets all of its passes.
   */
  read(deviceId: string, tag: string): ((space: string) => number) | undefined
}

const NAME_BYTES = 8
const NUMBER_BYTES = 6
const MAC_BYTES = 9
const ENTRY_BYTES = NAME_BYTES + NUMBER_BYTES

/**
 * Limits the length of a tag, which is part of a URL. Spaces beyond the limit are listed again if they ever changed.
 */
const MAX_ENTRIES = 300

const nameOf = (space: string) => createHash('sha256').update(space).digest().subarray(0, NAME_BYTES)

export function createChangeTags(pepper: string, environment: Environment): ChangeTags {
  const key = deriveSecret(pepper, `changes of ${environment}`)
  const macOf = (deviceId: string, data: Buffer) =>
    createHmac('sha256', key).update(`${deviceId} `).update(data).digest().subarray(0, MAC_BYTES)
  return {
    write(deviceId, seen) {
      const entries = [...seen].filter(([, number]) => number > 0).slice(0, MAX_ENTRIES)
      const data = Buffer.concat(
        entries.flatMap(([space, number]) => {
          const written = Buffer.alloc(NUMBER_BYTES)
          written.writeUIntBE(number, 0, NUMBER_BYTES)
          return [nameOf(space), written]
        }),
      )
      return Buffer.concat([macOf(deviceId, data), data]).toString('base64url')
    },
    read(deviceId, tag) {
      const bytes = Buffer.from(tag, 'base64url')
      const data = bytes.subarray(MAC_BYTES)
      if (bytes.length < MAC_BYTES || data.length % ENTRY_BYTES !== 0) return undefined
      if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), macOf(deviceId, data))) return undefined
      const numbers = new Map<string, number>()
      for (let at = 0; at < data.length; at += ENTRY_BYTES) {
        const name = data.subarray(at, at + NAME_BYTES).toString('latin1')
        numbers.set(name, data.readUIntBE(at + NAME_BYTES, NUMBER_BYTES))
      }
      return (space) => numbers.get(nameOf(space).toString('latin1')) ?? 0
    },
  }
}
