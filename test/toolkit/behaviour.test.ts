/** Behavior by version: handlers and jobs read what the version does, and no date. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { main } from '../../generators/cli.ts'
import { checkBehaviour } from '../../generators/gate/behaviour.ts'
import { behaviourOf } from '../../generators/runtime/behaviour.ts'
import { createVersionedApi } from '../../generators/server/api.ts'
import { toNodeListener } from '../../generators/server/node.ts'
import type { Behaviour } from '../golden/behaviour/want/behaviour.ts'
import type { Handlers } from '../golden/behaviour/want/canonical/handlers.ts'
import { versions } from '../golden/behaviour/want/versions.ts'

interface Context {
  readonly behaviour: Behaviour
}

const handlers = {
  async listParcels({ behaviour }) {
    // @ts-expect-error: no change introduces this behavior
    const unknown: unknown = behaviour['archived-in-list']
    expect(unknown).toBe(undefined)
    const archived = behaviour['archived-in-lists'] ? ['parcel_archived'] : []
    return { status: 200, body: { parcels: ['parcel_1', ...archived] } }
  },
} satisfies Handlers<Context>

test('one handler behaves differently in two versions, and only the old one reports the change', async () => {
  const touched: string[] = []
  const api = createVersionedApi({
    versions,
    handlers,
    context: ({ behaviour }) => ({ behaviour }),
    onTouched: ({ version, changes }) => touched.push(...[...changes].map((name) => `${version} ${name}`)),
  })
  const server = createServer(toNodeListener(api)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/parcels`
  const list = async (version: string) =>
    (await fetch(url, { headers: { 'Api-Version': version } })).json() as Promise<unknown>
  expect(await list('2030-01-01')).toEqual({ parcels: ['parcel_1'] })
  expect(await list('2030-06-01')).toEqual({ parcels: ['parcel_1', 'parcel_archived'] })
  expect(touched).toEqual(['2030-01-01 2030-06-01/show-archived-parcels'])
  server.close()
})

test('a job reads the behavior of the version that a tenant is pinned to', () => {
  const pinned = (name: string) => behaviourOf(versions.find((version) => version.name === name)!)
  expect(pinned('2030-01-01')).toEqual({ 'archived-in-lists': false })
  expect(pinned('2030-06-01')).toEqual({ 'archived-in-lists': true })
})

test('dateline diff prints behavior although no document shows it', async () => {
  const lines: string[] = []
  const argv = ['--config', 'test/golden/behaviour/dateline.config.json', 'diff', '2030-01-01', '2030-06-01']
  const terminal = { out: (line: string) => lines.push(line), error: (line: string) => lines.push(line) }
  expect(await main(argv, terminal)).toBe(0)
  expect(lines.at(-1)).toBe(
    'behavior archived-in-lists of listParcels: true since 2030-06-01, by show-archived-parcels',
  )
})

test('the gate refuses a name that is taken or malformed, and an operation that does not exist', () => {
  const change = (id: string, name: string, ...affects: string[]) => ({
    id,
    why: '',
    version: '2030-06-01',
    file: `versions/2030-06-01/${id}.ts`,
    lenses: [{ kind: 'behaviour', name, affects } as const],
  })
  const api = { version: '2030-06-01', operations: [], events: [{ name: 'book.lent' }] }
  const changes = [
    change('a', 'new-order', 'event book.lent'),
    change('b', 'new-order', 'listBooks'),
    change('c', 'New order'),
  ]
  const found = checkBehaviour([{ old: api, next: api, changes, claimed: [] } as never])
  expect(found.map(({ code, message }) => `${code} ${message}`)).toEqual([
    'change-invalid b: the behavior new-order has the name of that in versions/2030-06-01/a.ts',
    'change-claims-nothing b: 2030-06-01 has no listBooks',
    'change-invalid c: "New order" cannot name behavior',
  ])
})
