/** What an action of a merchant is, and what all of them use. */
import { fail, mustEqual } from '../checks/must.ts'
import type { Answer, Client } from '../client.ts'
import type { Merchant } from '../merchant.ts'
import type { Item } from '../reads.ts'

/** What is drawn for an action: an amount of cents, and a number that chooses among what there is. */
export interface Drawn {
  readonly amount: number
  readonly pick: number
}

/** Actions of one area by name. Of every `times` in a deck, a merchant does one. */
export type Actions = Readonly<
  Record<
    string,
    {
      readonly times: number
      /** Whether only merchants without faults do it, because nobody can predict what comes of it otherwise. */
      readonly isCalm?: boolean
      readonly act: (merchant: Merchant, drawn: Drawn) => Promise<void>
    }
  >
>

/** Returns one of a list, or undefined if the list is empty. */
export const one = <T>(list: readonly T[], pick: number): T | undefined =>
  list[pick % Math.max(1, list.length)]

/** Returns the body of an answer. Throws if the status is not the wanted one. */
export function must({ status, body }: Answer, wanted: number, what: string): Answer['body'] {
  if (status !== wanted) fail(`${what} was answered ${status}: ${JSON.stringify(body)}`)
  return body
}

/** Throws unless an answer is a refusal with this status and code. */
export function mustRefuse({ status, body }: Answer, wanted: readonly [number, string], what: string): void {
  mustEqual([status, body?.error?.code], wanted, what)
}

const PAGE = 20

/** Walks a list page by page. @param size of a page. */
export async function walk(
  { send }: Pick<Client, 'send'>,
  path: string,
  size = PAGE,
): Promise<readonly Item[]> {
  const all: Item[] = []
  for (let cursor: string | null = null; ; ) {
    const place: string = `${path}${path.includes('?') ? '&' : '?'}limit=${size}${cursor ? `&starting_after=${cursor}` : ''}`
    const { status, body } = await send('GET', place)
    mustEqual([status, body.error], [200, undefined], `the answer to ${place}`)
    all.push(...body.data)
    cursor = body.next_cursor
    if (body.has_more !== (cursor !== null) || body.data.length > size || (cursor && body.data.length < size))
      mustEqual([body.data.length, body.has_more], [size, cursor !== null], `a page of ${path}`)
    if (cursor === null) return all
  }
}
