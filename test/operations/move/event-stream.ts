/** A client that follows the events of a tenant, and goes on at the installation that serves it. */
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../support/programs.ts'

const AGAIN_MS = 50
const WAIT_MS = 60_000

/** @param current URL of the installation that a new connection reaches. */
export function followEvents(current: () => string, secret: string) {
  const ids: string[] = []
  const closing = new AbortController()
  const connect = async (): Promise<void> => {
    const last = ids.at(-1)
    const response = await fetch(`${current()}/v1/events/stream`, {
      headers: { Authorization: `Bearer ${secret}`, ...(last && { 'Last-Event-ID': last }) },
      signal: closing.signal,
    })
    let text = ''
    if (response.ok)
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk
        const end = text.lastIndexOf('\n\n')
        if (end < 0) continue
        ids.push(...[...text.slice(0, end).matchAll(/^id: (.*)\nevent: /gm)].map(([, id]) => id!))
        text = text.slice(end + 2)
      }
    else if (response.status !== 503) throw new Error(`the stream got ${response.status}`)
  }
  const run = async () => {
    while (!closing.signal.aborted) {
      await connect()
      await wait(AGAIN_MS)
    }
  }
  let failure: unknown
  const running = run().catch((error: unknown) => {
    if (!closing.signal.aborted) failure = error
  })
  return {
    /** Waits until these events have arrived, and checks that none is missing or repeated. Returns their number. */
    async compare(events: readonly string[]): Promise<number> {
      if (failure) throw failure
      await until(
        'the stream to have the events',
        () => failure !== undefined || ids.includes(events.at(-1)!),
        WAIT_MS,
      )
      if (failure) throw failure
      const wanted = events.slice(events.indexOf(ids[0]!))
      const found = ids.slice(0, wanted.length)
      const at = wanted.findIndex((id, place) => id !== found[place])
      if (at >= 0)
        throw new Error(`the stream differs from the events at ${at}: ${found[at]} instead of ${wanted[at]}`)
      return found.length
    },
    async stop() {
      closing.abort()
      await running
    },
  }
}
