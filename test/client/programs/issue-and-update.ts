/** Makes a template, issues a pass to a customer, and changes what it shows. */
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
console.log(JSON.stringify({ template: template.id, pass: pass.id, points: updated.fields.points }))
