/** Goes through the issued passes four ways: record by record, as an array, page by page, and by hand with the cursor. */
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })
const query = { status: 'issued', limit: 2 } as const

const walked: string[] = []
for await (const pass of client.passes.list(query)) walked.push(pass.id)

const everything = await client.passes.list(query).toArray({ limit: 10_000 })

const pages: number[] = []
for await (const page of client.passes.list(query).pages()) pages.push(page.data.length)

const byHand: string[] = []
let page = await client.passes.list(query)
for (;;) {
  byHand.push(...page.data.map(({ id }) => id))
  if (!page.has_more || page.next_cursor === null) break
  page = await client.passes.list({ ...query, starting_after: page.next_cursor })
}
console.log(JSON.stringify({ walked, everything: everything.map(({ id }) => id), pages, byHand }))
