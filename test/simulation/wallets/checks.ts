/** What must be true of passes in wallets: each shows the newest state in the end. */
import type { Merchant } from '../merchant.ts'
import type { SimulatedGoogle } from './google.ts'

interface GoogleObject {
  readonly state?: string
  readonly textModulesData?: readonly { readonly id: string; readonly body: string }[]
}

/** Each pass on a device shows the points that the service shows. */
export async function devicesAreCurrent(
  _: unknown,
  { shown, devices, name }: Pick<Merchant, 'shown' | 'devices' | 'name'>,
): Promise<void> {
  const states = new Map(shown.map(({ id, points }) => [id, points]))
  for (const { id, passes } of devices)
    for (const { serial, points } of passes.values())
      if (states.get(serial) !== points)
        throw new Error(`device ${id} of ${name} shows ${points} points, not ${states.get(serial)}`)
}

/** Google has each pass, with the points that the service shows. */
export async function googleIsCurrent(
  { google }: { readonly google: SimulatedGoogle },
  { shown, name }: Pick<Merchant, 'shown' | 'name'>,
): Promise<void> {
  const objects = new Map(
    [...google.resources].map(([path, resource]) => [path.split('.').at(-1), resource as GoogleObject]),
  )
  for (const { id, points } of shown) {
    const object = objects.get(id)
    if (!object) throw new Error(`Google does not have pass ${id} of ${name}`)
    const text = object.textModulesData?.find((each) => each.id === 'points')?.body
    if (text !== points || object.state !== 'ACTIVE')
      throw new Error(`Google shows ${text} points of pass ${id} of ${name}, ${object.state}; not ${points}`)
  }
}
