/** Reads a card program in the version that the rest of the program uses, and in the one that it moves to. */
import { createClient } from '@dateline/passes'

const versions = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })
const [old, current] = [versions.at('2025-11-01'), versions.at('2026-05-19')]

const { id } = await current.cardPrograms.create({
  name: 'Travel',
  kind: 'virtual',
  spending_controls: { blocked_categories: ['7995'] },
})
const before = await old.cardPrograms.retrieve(id)
const after = await current.cardPrograms.retrieve(id)
console.log(
  JSON.stringify({
    allowed: before.spending_controls.allowed_categories?.includes('7995'),
    blocked: after.spending_controls.blocked_categories,
  }),
)
