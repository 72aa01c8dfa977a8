/** Templates and passes as wallets are shown them, for tests. */
import type { TemplateState } from '../../../runtime/passes/wallets/render/google/resource.ts'
import type { PassKind, PassState } from '../../../runtime/passes/wallets/render/pass-state.ts'

export const ISSUER = { issuerId: '3388000000000000042', baseUrl: 'https://passes.example' }

const SPACE = `ten_${'0'.repeat(26)}`
const LOGO = Buffer.from('a picture').toString('base64')

/** Everything that a pass can have. */
export function makePass(kind: PassKind, changes: Partial<PassState> = {}): PassState {
  return {
    place: { space: SPACE, passId: `pass_${'1'.repeat(26)}` },
    templateId: `tpl_${'2'.repeat(26)}`,
    kind,
    organization: 'Harbour Coffee',
    name: 'Coffee loyalty',
    status: 'issued',
    brand: { background_color: '#1E3A5F', foreground_color: '#FFFFFF', logo: LOGO, strip: LOGO },
    fields: [
      {
        key: 'points',
        label: 'Points',
        value: '120',
        change_message: 'You have %@ points now.',
        translations: { de: { label: 'Punkte', change_message: 'Sie haben jetzt %@ Punkte.' } },
      },
      { key: 'tier', label: 'Tier', value: '<b>Gold</b> https://example.com 🚀' },
    ],
    barcode: { format: 'qr', message: '1111SCAN' },
    locations: [{ latitude: 37.7763, longitude: -122.4231, altitude: 3, relevant_text: 'Near' }],
    options: {
      language: 'en',
      translations: { de: { name: 'Kaffeekarte' } },
      relevant_dates: [{ starts_at: '2026-06-01T18:00:00.000Z', ends_at: '2026-06-01T21:00:00.000Z' }],
      grouping_identifier: 'harbour',
      smart_tap: { redemption_issuers: ['3388000000000000043'] },
      notify_on_update: true,
      app_links: { android_url: 'https://harbour.example/app', web_url: 'https://harbour.example/card' },
    },
    holder: { name: 'Ada Lovelace', email: 'ada@example.com' },
    expiresAt: Date.parse('2027-01-01T00:00:00Z'),
    changed: Date.parse('2026-06-01T12:00:00Z'),
    pageUrl: 'https://passes.example/p/token',
    appleToken: 'apple',
    webServiceUrl: 'https://passes.example/apple',
    ...changes,
  }
}

/** Nothing that a pass can do without. */
export function makePlainPass(kind: PassKind): PassState {
  return makePass(kind, {
    brand: { background_color: '#000000', foreground_color: '#FFFFFF' },
    fields: [],
    locations: [],
    options: {},
    holder: { name: null, email: null },
    expiresAt: null,
  })
}

export function templateOf(pass: PassState): TemplateState {
  return { ...pass, space: pass.place.space, fieldKeys: pass.fields.map(({ key }) => key) }
}
