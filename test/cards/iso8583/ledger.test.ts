/** A card network over TLS, from the bytes to the ledger. */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { IsoMessage, IsoValue } from '../../../runtime/cards/iso8583/codec/message.ts'
import type { Network } from '../../../runtime/cards/network/network.ts'
import {
  addCertificate,
  nameProcessor,
  retireCertificate,
} from '../../../runtime/cards/processor/processors.ts'
import { openRegistry, type ProcessorRegistry } from '../../../runtime/cards/processor/registry.ts'
import { createNetworkCounter } from '../../../runtime/cards/processor/tally.ts'
import { findFault } from '../../../runtime/money/ledger/verify.ts'
import { readSettings } from '../../../runtime/platform/settings.ts'
import { type IsoPort, openIsoPort } from '../../../runtime/process/iso-port.ts'
import { makeKey, makeTenant, type Send, speak, useService } from '../../support/service.ts'
import { strictLog } from '../../support/strict-log.ts'
import { makeCard } from '../fixtures.ts'
import { openTestNetwork } from '../network/open-network.ts'
import { type ClientCertificate, makeCertificate } from '../processor/certificates.ts'
import { createPeer, type Peer } from './peer.ts'
import { dialectOf, parts, purchase } from './samples.ts'

const service = useService()
let tenantId: string
let send: Send
let number: string
let directory: string
let client: ClientCertificate
let certificateId: string
let processors: ProcessorRegistry
let port: IsoPort

beforeAll(async () => {
  service.clock.now = Date.now()
  tenantId = await makeTenant(service)
  send = speak(service.urls.sandbox, {
    secret: (await makeKey(service, tenantId, { scope: 'admin' })).secret,
  })
  await send('/v1/test/funding', { body: { amount: 10_000 } })
  const { id } = await makeCard(send)
  number = (await send(`/v1/cards/${id}/details`)).body.number

  directory = mkdtempSync(join(tmpdir(), 'svc-iso-'))
  client = makeCertificate(directory, 'network')
  await nameProcessor(service.operator, 'sandbox', 'Test Network')
  certificateId = (await addCertificate(service.operator, 'sandbox', client.cert)).id
  processors = await openRegistry(service.database.control, service.database.pepper, strictLog)
  const accept = openTestNetwork(service, 'sandbox')
  const network: Network = {
    exchange: (environment, kind, message, deadline) => {
      expect(environment).toBe('sandbox')
      return accept(kind, message, deadline - performance.now())
    },
  }
  const counter = createNetworkCounter()
  const opened = await openIsoPort({
    settings: readSettings({
      NETWORK_ISO8583_PORT: '0',
      NETWORK_ISO8583_DIALECT: 'bcd',
      DATA_DIR: directory,
    }),
    ...{ network, processors, counter, clock: service.clock, log: strictLog },
  })
  if (!opened) throw new Error('the port is not open')
  port = opened
})
afterAll(async () => {
  await port.drain(1000)
  rmSync(directory, { recursive: true })
})

/** Connects as the network, or with the given certificate. */
async function connectPeer(certificate: Partial<ClientCertificate> = client): Promise<Peer> {
  const ca = readFileSync(join(directory, 'network', 'server.pem'))
  const { cert, key } = certificate
  const socket = connect({
    port: port.port,
    host: '127.0.0.1',
    ca,
    ...(cert && { cert }),
    ...(key && { key }),
  })
  await once(socket, 'secureConnect')
  return createPeer(socket, dialectOf('bcd'))
}

/** A message that is sent some seconds after now. */
function message(
  mti: string,
  stan: string,
  second: number,
  changes: Readonly<Record<number, IsoValue>> = {},
): IsoMessage {
  const time = new Date(service.clock.now + second * 1000).toISOString().slice(5, 19).replaceAll(/\D/g, '')
  return purchase('bcd', { 2: number, 7: time, 11: stan, ...changes }, mti)
}

test('an authorization, a reversal of a part and a clearing end in the ledger', async () => {
  const peer = await connectPeer()
  expect(
    (
      await peer.ask({
        ...message('0800', '000001', 0),
        fields: new Map([
          [7, '0601120000'],
          [11, '000001'],
          [70, '001'],
        ]),
      })
    ).fields.get(39),
  ).toBe('00')

  const approved = await peer.ask(message('0100', '000002', 1, { 4: '000000005000' }))
  expect([approved.mti, approved.fields.get(39)]).toEqual(['0110', '00'])
  expect(approved.fields.get(38)).toMatch(/^[A-Z0-9]{6}$/)
  const tooMuch = await peer.ask(
    message('0100', '000003', 2, { 4: '000000009000', 62: parts({ 2: '586152432000999' }) }),
  )
  expect(tooMuch.fields.get(39)).toBe('51')

  const replacement = parts({ 1: '000000003000', 2: '0'.repeat(12), 3: '0'.repeat(9), 4: '0'.repeat(9) })
  const reversal = message('0400', '000004', 3, { 4: '000000005000', 95: replacement })
  expect((await peer.ask(reversal)).fields.get(39)).toBe('00')
  // The network repeats what it got no answer to.
  for (const mti of ['0400', '0401']) {
    peer.socket.write(peer.frame({ ...reversal, mti }))
    await once(peer.socket, 'data')
  }
  expect((await send('/v1/balance')).body).toMatchObject({ available: 7000, held: 3000 })

  const cleared = await peer.ask(message('0220', '000005', 4, { 4: '000000003000' }))
  expect([cleared.mti, cleared.fields.get(39)]).toEqual(['0230', '00'])
  expect((await send('/v1/balance')).body).toMatchObject({ available: 7000, held: 0 })
  const { data } = (await send('/v1/card_transactions?status=cleared')).body
  expect(data).toHaveLength(1)
  expect(data[0]).toMatchObject({
    amounts: { requested: 5000, authorized: 5000, held: 0, cleared: 3000, reversed: 2000 },
    merchant: { name: 'Corner Bistro', category_code: '5812', city: 'Portland', country: 'US' },
    entry_method: 'chip',
  })
  expect(await findFault(service.database.control, 'sandbox', tenantId)).toBeUndefined()
  peer.socket.destroy()
})

test('a balance inquiry is answered with what the card can spend', async () => {
  const peer = await connectPeer()
  const { fields } = await peer.ask(message('0100', '000006', 5, { 3: '310000' }))
  expect(fields.get(54)).toEqual(parts({ 1: '0002840C000000007000' }))
  peer.socket.destroy()
})

test('only a pinned certificate is served, and only until it is retired', async () => {
  const strangers = [{}, makeCertificate(directory, 'stranger')]
  for (const stranger of strangers) await (await connectPeer(stranger)).closed
  const peer = await connectPeer()
  await peer.ask(message('0100', '000007', 6, { 3: '310000' }))
  await retireCertificate(service.operator, certificateId)
  await processors.refresh()
  peer.socket.write(peer.frame(message('0100', '000008', 7, { 3: '310000' })))
  await peer.closed
})
