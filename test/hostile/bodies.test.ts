/** Bodies together take no more memory than there is to give. */
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { readBytes } from '../../runtime/api/body.ts'

const MEGABYTE = 1024 * 1024

test('256 MiB of bodies are read at once, the next is turned away; what ended or was lost makes room', async () => {
  const chunk = Buffer.alloc(MEGABYTE)
  const begin = () => {
    const stream = new PassThrough({ highWaterMark: 2 * MEGABYTE })
    const read = readBytes(stream as unknown as IncomingMessage, 60_000)
    const outcome = read.then(
      (bytes) => bytes.length,
      (error: Error & { status?: number }) => error.status ?? error.message,
    )
    stream.write(chunk)
    return { stream, outcome }
  }
  const fill = async (count: number) => {
    const begun = Array.from({ length: count }, begin)
    await new Promise(setImmediate)
    return begun
  }
  const running = await fill(256)
  const [late] = await fill(1)
  expect(await late!.outcome).toBe(503)

  running[0]!.stream.end()
  expect(await running[0]!.outcome).toBe(MEGABYTE)
  running[1]!.stream.destroy()
  expect(await running[1]!.outcome).toBe('the connection closed before the end of the body')
  const again = await fill(3)
  expect(await again[2]!.outcome).toBe(503)

  for (const { stream } of [...running.slice(2), ...again.slice(0, 2)]) stream.end()
  const lengths = await Promise.all([...running.slice(2), ...again.slice(0, 2)].map(({ outcome }) => outcome))
  expect(new Set(lengths)).toEqual(new Set([MEGABYTE]))
  const afterwards = await fill(256)
  for (const { stream } of afterwards) stream.end()
  expect(new Set(await Promise.all(afterwards.map(({ outcome }) => outcome)))).toEqual(new Set([MEGABYTE]))
})
