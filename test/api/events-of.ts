import { expect } from 'vitest'
import { checkEvent } from '../support/contract.ts'
import type { Answer, Send } from '../support/service.ts'

/** The tenant's events, oldest first, as its version shows them, each as its document says. @param filter of the list. */
export async function eventsOf(send: Send, filter = ''): Promise<Answer['body'][]> {
  const { data } = (await send(`/v1/events?order=asc&limit=100&${filter}`)).body
  expect(data.flatMap(checkEvent)).toEqual([])
  return data
}
