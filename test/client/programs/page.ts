/** Goes through all passes three ways: record by record, page by page, and by hand with the cursor. */
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })
const query = { limit: 2 }

const walked: string[] = []
for await (const pass of client.passes.list(query)) walked.push(pass.id)

const pages: number[] = []
for await (const page of client.passes.list(query).pages()) pages.push(page.data.length)

const byHand: string[] = []
let page = await client.passes.list(query)
for (;;) {
  byHand.push(...page.data.map(({ id }) => id))
  if (!page.has_more || page.next_cursor === null) break
  page = await client.passes.list({ ...query, starting_after: page.next_cursor })
}
console.log(JSON.stringify({ walked, pages, byHand }))
