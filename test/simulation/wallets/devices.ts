/** Apple devices: they install passes, register at the web service, and fetch what changed when Apple pushes. */
import { type ClientParts, type RawAnswer, reach, type ServiceRequest } from '../client.ts'
import type { Peer } from '../network.ts'

export const PUSH_URL = 'https://push.invalid'

/** A pass on a device: what its file showed when the device fetched it last. */
export interface HeldPass {
  readonly serial: string
  readonly type: string
  readonly token: string
  readonly modified: string
  readonly points: unknown
}

export interface Device {
  readonly id: string
  /** Passes that are on the device now. */
  readonly passes: ReadonlyMap<string, HeldPass>
  /** Downloads the file of a pass and registers it. */
  install(fileUrl: string): Promise<void>
  /** Removes one of the passes, if there is one. */
  remove(pick: number): Promise<void>
}

export interface Devices {
  device(id: string): Device
  /** Answers APNs requests, and wakes up the device. */
  readonly push: Peer
}

const RETRY_MS = 5000

/** A device is offline for up to this time before it hears of a push. */
const OFFLINE_MS = 20_000

/** Reads `pass.json`, the first file of an archive without compression. */
export function readPass(archive: Buffer): { readonly name: string; readonly content: string } {
  const [size, name, extra] = [archive.readUInt32LE(18), archive.readUInt16LE(26), archive.readUInt16LE(28)]
  const start = 30 + name + extra
  return {
    name: archive.subarray(30, 30 + name).toString(),
    content: archive.subarray(start, start + size).toString(),
  }
}

interface PassJson {
  readonly serialNumber: string
  readonly passTypeIdentifier: string
  readonly authenticationToken: string
  readonly storeCard: Readonly<Record<string, readonly { readonly key: string; readonly value: unknown }[]>>
}

function heldOf({ payload, headers }: RawAnswer): HeldPass {
  const { content } = readPass(payload)
  const { serialNumber, passTypeIdentifier, authenticationToken, storeCard } = JSON.parse(content) as PassJson
  const fields = Object.values(storeCard).filter(Array.isArray).flat()
  return {
    serial: serialNumber,
    type: passTypeIdentifier,
    token: authenticationToken,
    modified: String(headers['last-modified']),
    points: fields.find(({ key }) => key === 'points')?.value,
  }
}

const pushTokenOf = (id: string) => Buffer.from(id.padEnd(32, '.')).toString('hex')

/** What a device does when it has nothing of this. */
const isFinal = ({ status }: RawAnswer) => status < 500 && status !== 429 && status !== 409

function createDevice(parts: ClientParts, id: string): Device & { wake(): void } {
  const { scheduler, network, weather } = parts
  const passes = new Map<string, HeldPass>()
  let tag: string | undefined
  let isFetching = false
  let isNews = false

  const attempt = async (request: ServiceRequest): Promise<RawAnswer | undefined> => {
    await scheduler.sleep(network.latency())
    if (weather.strikes('lost')) return undefined
    const answer = await reach(parts, 'live', request).catch(() => undefined)
    return weather.strikes('answerLost') ? undefined : answer
  }
  /** Repeats a request until it is answered. */
  const send = async (method: string, url: string, headers = {}, body?: object): Promise<RawAnswer> => {
    const what = `${id} ${method} ${url.replace(/\?.*/, '').replaceAll(/_[0-9a-z]{26}|[\w-]{50,}/g, '…')}`
    for (let tries = 1; tries <= 200; tries += 1) {
      const answer = await attempt({ method, url, headers, body })
      scheduler.note(`${what} ${answer?.status ?? 'unknown'}`)
      if (answer && isFinal(answer)) return answer
      await scheduler.sleep(RETRY_MS)
    }
    throw new Error(`no answer after 200 attempts: ${what}`)
  }
  const authorization = ({ token }: HeldPass) => ({ authorization: `ApplePass ${token}` })
  const registrations = `/apple/v1/devices/${id}/registrations`

  const fetchPass = async (held: HeldPass): Promise<void> => {
    const headers = { ...authorization(held), 'if-modified-since': held.modified }
    const answer = await send('GET', `/apple/v1/passes/${held.type}/${held.serial}`, headers)
    if (answer.status === 304) return
    if (answer.status !== 200) throw new Error(`device ${id} got ${answer.status} for a pass`)
    if (passes.has(held.serial)) passes.set(held.serial, heldOf(answer))
  }
  /** Asks what changed, and fetches it. The tag counts only once all of it has arrived. */
  const fetchChanges = async (): Promise<void> => {
    const type = passes.values().next().value?.type
    if (type === undefined) return
    const since = tag === undefined ? '' : `?passesUpdatedSince=${tag}`
    const answer = await send('GET', `${registrations}/${type}${since}`)
    if (answer.status === 204) return
    if (answer.status !== 200) throw new Error(`device ${id} got ${answer.status} for the list of changes`)
    const { serialNumbers, lastUpdated } = JSON.parse(answer.payload.toString()) as {
      readonly serialNumbers: readonly string[]
      readonly lastUpdated: string
    }
    for (const serial of serialNumbers) {
      const held = passes.get(serial)
      if (held) await fetchPass(held)
    }
    tag = lastUpdated
  }
  const run = async () => {
    while (isNews) {
      isNews = false
      await scheduler.sleep(weather.strikes('slow') ? OFFLINE_MS : 100)
      await fetchChanges()
    }
    isFetching = false
  }
  const wake = () => {
    isNews = true
    if (isFetching) return
    isFetching = true
    run().catch(scheduler.fail)
  }
  return {
    id,
    passes,
    wake,
    async install(fileUrl) {
      const file = await send('GET', new URL(fileUrl).pathname)
      if (file.status !== 200) throw new Error(`device ${id} got ${file.status} for the file of a pass`)
      const held = heldOf(file)
      passes.set(held.serial, held)
      const url = `${registrations}/${held.type}/${held.serial}`
      const answer = await send('POST', url, authorization(held), { pushToken: pushTokenOf(id) })
      if (answer.status > 201) throw new Error(`device ${id} got ${answer.status} for a registration`)
    },
    async remove(pick) {
      const held = [...passes.values()][pick % Math.max(1, passes.size)]
      if (!held) return
      passes.delete(held.serial)
      await send('DELETE', `${registrations}/${held.type}/${held.serial}`, authorization(held))
    },
  }
}

export function createDevices(parts: () => ClientParts): Devices {
  const devices = new Map<string, ReturnType<typeof createDevice>>()
  return {
    device(id) {
      const known = devices.get(id) ?? createDevice(parts(), id)
      devices.set(id, known)
      return known
    },
    push({ url }) {
      const token = new URL(url).pathname.split('/').at(-1) ?? ''
      const id = Buffer.from(token, 'hex').toString().replaceAll('.', '')
      const device = devices.get(id)
      if (!device) return { status: 400, body: JSON.stringify({ reason: 'BadDeviceToken' }) }
      device.wake()
      return { status: 200, body: '' }
    },
  }
}
