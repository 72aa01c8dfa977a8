/** Makes a template, issues a pass to a customer, prints the link that adds it to a wallet, and changes what it shows. */
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })

const template = await client.passTemplates.create({
  name: 'Loyalty',
  kind: 'loyalty',
  brand: { background_color: '#123456', foreground_color: '#FFFFFF' },
  fields: [{ key: 'points', label: 'Points', value: '0' }],
})
const pass = await client.passes.create({
  template_id: template.id,
  holder: { name: 'Ada Lovelace' },
  fields: { points: '10' },
})
const updated = await client.passes.update(pass.id, { fields: { points: '25' } })
const link = pass.download.page_url
console.log(JSON.stringify({ pass: pass.id, link, points: updated.fields.points }))
