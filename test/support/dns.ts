import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import ipaddr from 'ipaddr.js'

/** Responses of a name server for one name. */
export interface Records {
  readonly a?: readonly string[]
  readonly aaaa?: readonly string[]
  /** Makes the name an alias. The response includes the records of the target. */
  readonly cname?: string
  /** Queries of this family, or all queries, get no response. */
  readonly hang?: 'A' | 'AAAA' | 'all'
  /** Queries of this family get a server failure. */
  readonly fail?: 'A' | 'AAAA'
}

type Family = 'A' | 'AAAA'

/** A name server on a loopback port with configurable records. */
export interface NameServer {
  /** Address in the form that resolvers use: `address:port`. */
  readonly address: string
  /** Sets the records of a name from now on. */
  tell(name: string, records: Records): void
  /** Number of queries for the name's addresses of the family. */
  questions(name: string, family?: Family): number
  close(): Promise<void>
}

/** RFC 1035, sections 3.2.2 and 4.1.1, and RFC 3596. */
const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const
const IN = 1
const HEADER_BYTES = 12
const QUESTION_TAIL_BYTES = 4
const RESPONSE = 0x8180
const SERVER_FAILURE = 2
const NO_SUCH_NAME = 3

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from([label.length, ...Buffer.from(label)]))
  return Buffer.concat([...labels, Buffer.from([0])])
}

function readName(message: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

function record(name: string, type: number, content: Buffer): Buffer {
  const fields = Buffer.alloc(10)
  fields.writeUInt16BE(type, 0)
  fields.writeUInt16BE(IN, 2)
  fields.writeUInt32BE(60, 4)
  fields.writeUInt16BE(content.length, 8)
  return Buffer.concat([encodeName(name), fields, content])
}

function answersOf(known: ReadonlyMap<string, Records>, name: string, family: Family): readonly Buffer[] {
  const records = known.get(name)
  const addresses = (family === 'A' ? records?.a : records?.aaaa) ?? []
  const own = addresses.map((text) =>
    record(name, TYPES[family], Buffer.from(ipaddr.parse(text).toByteArray())),
  )
  const target = records?.cname
  if (target === undefined) return own
  return [record(name, TYPES.CNAME, encodeName(target)), ...answersOf(known, target, family)]
}

export async function openNameServer(): Promise<NameServer> {
  const known = new Map<string, Records>()
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (message: Buffer, { port, address }: RemoteInfo) => {
    const { name, end } = readName(message)
    const family: Family = message.readUInt16BE(end) === TYPES.AAAA ? 'AAAA' : 'A'
    asked.push(`${family} ${name}`)
    const records = known.get(name)
    if (records?.hang === 'all' || records?.hang === family) return
    const failed = records?.fail === family
    const answers = failed ? [] : answersOf(known, name, family)
    const header = Buffer.alloc(HEADER_BYTES)
    message.copy(header, 0, 0, 2) // ID of the query
    header.writeUInt16BE(RESPONSE | (failed ? SERVER_FAILURE : records ? 0 : NO_SUCH_NAME), 2)
    header.writeUInt16BE(1, 4)
    header.writeUInt16BE(answers.length, 6)
    const question = message.subarray(HEADER_BYTES, end + QUESTION_TAIL_BYTES)
    socket.send(Buffer.concat([header, question, ...answers]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    address: `127.0.0.1:${socket.address().port}`,
    tell: (name, records) => known.set(name, records),
    questions: (name, family = 'A') => asked.filter((each) => each === `${family} ${name}`).length,
    close: async () => {
      const closed = once(socket, 'close')
      socket.close()
      await closed
    },
  }
}
