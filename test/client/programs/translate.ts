/** Translates a template after its passes are in wallets: each wallet is told to fetch the new pass. */
import { createClient } from '@dateline/passes/2026-05-19'

const client = createClient({ baseUrl: process.env.BASE_URL ?? '', apiKey: process.env.API_KEY ?? '' })

const template = await client.passTemplates.create({
  name: 'Coffee card',
  kind: 'loyalty',
  brand: { background_color: '#123456', foreground_color: '#FFFFFF' },
  language: 'en',
})
const pass = await client.passes.create({ template_id: template.id })
await client.test.passes.simulateInstall({ pass_id: pass.id, platform: 'apple' })

const { translations } = await client.passTemplates.update(template.id, {
  translations: { de: { name: 'Kaffeekarte' }, fr: { name: 'Carte café' } },
})
const { status } = await client.passes.retrieve(pass.id)
console.log(JSON.stringify({ translations, status }))
