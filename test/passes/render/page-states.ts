/** States of passes as holders may meet them: plain ones of each kind, and those that strain a layout. */
import { crc32, deflateSync } from 'node:zlib'
import type { PassKind, PassState } from '../../../runtime/passes/wallets/render/pass-state.ts'

const field = (key: string, label: string, value: string) => ({ key, label, value })

const FIELDS: Readonly<Record<PassKind, PassState['fields']>> = {
  loyalty: [
    field('points', 'Points', '1,280'),
    field('tier', 'Tier', 'Gold'),
    field('since', 'Member since', '2019'),
    field('shop', 'Shop', 'Embarcadero 12'),
    field(
      'terms',
      'Terms',
      'Ten points for each coffee.\nPoints are kept for two years after the last visit, and cannot be exchanged for money.',
    ),
  ],
  gift_card: [
    field('balance', 'Balance', '$75.00'),
    field('number', 'Card number', '6035 7142 8810'),
    field('pin', 'PIN', '4471'),
  ],
  coupon: [
    field('offer', 'Any large drink', '25% off'),
    field('valid', 'Valid until', '31 Aug 2026'),
    field('where', 'Where', 'All shops'),
  ],
  event_ticket: [
    field('event', 'Event', 'Night of the Organ'),
    field('date', 'Date', '12 Sep 2026, 19:30'),
    field('door', 'Doors', '18:45'),
    field('section', 'Section', 'B'),
    field('row', 'Row', '14'),
    field('seat', 'Seat', '9'),
    field('name', 'Guest', 'Amara Okafor'),
  ],
  boarding_pass: [
    field('from', 'San Francisco', 'SFO'),
    field('to', 'London Heathrow', 'LHR'),
    field('passenger', 'Passenger', 'Amara Okafor'),
    field('class', 'Class', 'Economy'),
    field('seat', 'Seat', '34K'),
    field('group', 'Group', '4'),
    field('flight', 'Flight', 'HC 218'),
    field('gate', 'Gate', 'A12'),
    field('boards', 'Boards', '16:05'),
    field('date', 'Date', '12 Sep'),
    field(
      'bags',
      'Bags',
      'One bag of 23 kg and one piece of hand luggage of 8 kg are included in this fare.',
    ),
  ],
  generic: [
    field('member', 'Member', 'Amara Okafor'),
    field('number', 'Number', '0047 118'),
    field('branch', 'Branch', 'City Library'),
    field('until', 'Valid until', 'June 2027'),
  ],
}

const BRANDS: Readonly<Record<PassKind, { name: string; organization: string; brand: PassState['brand'] }>> =
  {
    loyalty: {
      name: 'Coffee loyalty',
      organization: 'Harbour Coffee',
      brand: {
        background_color: '#1E3A5F',
        foreground_color: '#FFFFFF',
        label_color: '#A9C7E8',
        logo_text: 'Harbour Coffee',
      },
    },
    gift_card: {
      name: 'Gift card',
      organization: 'Linden & Vale',
      brand: { background_color: '#7A1F3D', foreground_color: '#FFFFFF', label_color: '#F2C6D4' },
    },
    coupon: {
      name: 'Summer coupon',
      organization: 'Harbour Coffee',
      brand: { background_color: '#F4B740', foreground_color: '#2B1D00', label_color: '#5C4300' },
    },
    event_ticket: {
      name: 'Night of the Organ',
      organization: 'Old Mill Hall',
      brand: {
        background_color: '#23233B',
        foreground_color: '#FFFFFF',
        label_color: '#B9B4E0',
        logo_text: 'Old Mill Hall',
      },
    },
    boarding_pass: {
      name: 'HC 218 to London',
      organization: 'Harbour Air',
      brand: {
        background_color: '#0B6E78',
        foreground_color: '#FFFFFF',
        label_color: '#BFE8EA',
        logo_text: 'Harbour Air',
      },
    },
    generic: {
      name: 'Library card',
      organization: 'City Library',
      brand: {
        background_color: '#FFFFFF',
        foreground_color: '#1C1C1E',
        label_color: '#6A4C93',
        logo_text: 'City Library',
      },
    },
  }

const FORMATS: Readonly<Record<PassKind, PassState['barcode']['format']>> = {
  loyalty: 'qr',
  gift_card: 'code128',
  coupon: 'qr',
  event_ticket: 'aztec',
  boarding_pass: 'pdf417',
  generic: 'pdf417',
}

/** 39 characters, as scan codes have. */
const SCAN_CODE = '01JX2F8M3Q5R7S9T1V3W5X7Y9Z4H8K2M6P0R4T8'

/** 1 June 2026. */
const CHANGED = Date.parse('2026-06-01T12:00:00.000Z')

export function makeState(kind: PassKind, changes: Partial<PassState> = {}): PassState {
  const { name, organization, brand } = BRANDS[kind]
  return {
    place: { space: 'ten_01jx2f8m3q5r7s9t1v3w5x7y9z', passId: 'pass_01jx2f8m3q5r7s9t1v3w5x7y9z' },
    templateId: 'tpl_01jx2f8m3q5r7s9t1v3w5x7y9z',
    kind,
    organization,
    name,
    status: 'issued',
    brand,
    fields: FIELDS[kind],
    barcode: { format: FORMATS[kind], message: SCAN_CODE },
    locations: [],
    holder: { name: 'Amara Okafor', email: 'amara@example.com' },
    expiresAt: null,
    changed: CHANGED,
    pageUrl: 'https://passes.example/p/AQ-example',
    appleToken: 'apple-token',
    webServiceUrl: 'https://passes.example/apple',
    ...changes,
  }
}

/** With a logo and a strip of the largest sizes that are taken. */
export function withImages(state: PassState): PassState {
  return {
    ...state,
    brand: { ...state.brand, logo: picture(480, 150), strip: picture(1125, 432), icon: picture(87, 87) },
  }
}

const LONG = 'Pneumonoultramicroscopicsilicovolcanoconiosis and other very long words, one after the other. '

/** What makes layouts burst. */
export const STRAINS: Readonly<Record<string, PassState>> = {
  'twenty fields': makeState('event_ticket', {
    fields: Array.from({ length: 20 }, (_, index) =>
      field(`f${index}`, `Label ${index + 1}`, `Value ${index + 1}`),
    ),
  }),
  'long texts': makeState('loyalty', {
    name: LONG.slice(0, 100),
    organization:
      'The Honourable Company of Coffee Roasters, Tea Merchants and Purveyors of Chocolate of the Old Harbour',
    brand: { ...BRANDS.loyalty.brand, logo_text: LONG.slice(0, 60) },
    fields: [
      field('a', LONG.slice(0, 100), LONG.slice(0, 60)),
      field('b', 'A label that goes on for longer than its value', '1'),
      field('c', 'C', LONG.slice(0, 45)),
      field('d', 'D', 'x'.repeat(60)),
      field('e', 'E', LONG.repeat(6).slice(0, 500)),
    ],
    barcode: { format: 'qr', message: 'x'.repeat(256) },
  }),
  'no fields': makeState('generic', { fields: [], holder: { name: null, email: null } }),
  'right to left': makeState('event_ticket', {
    name: 'ليلة الأورغن',
    organization: 'قاعة الطاحونة القديمة',
    brand: { ...BRANDS.event_ticket.brand, logo_text: 'قاعة الطاحونة' },
    fields: [
      field('event', 'الحدث', 'ليلة الأورغن'),
      field('date', 'تاريخ', '١٢ سبتمبر ٢٠٢٦'),
      field('seat', 'מושב', 'שורה 14, מקום 9'),
      field('emoji', '🎟️', '👩‍👩‍👧‍👦 🎉'),
    ],
  }),
  'looks like HTML': makeState('coupon', {
    name: '<script>alert(1)</script>',
    organization: '"><img src=https://evil.example/x onerror=alert(1)>',
    brand: { ...BRANDS.coupon.brand, logo_text: '<b>bold</b> & "quoted"' },
    fields: [
      field('offer', '</dl></section><h1>Label</h1>', "<a href='https://evil.example'>free</a>"),
      field('link', 'Link', 'https://evil.example/?a=1&b=2'),
      field('scheme', 'Scheme', 'javascript:alert(1)'),
      field(
        'back',
        '<style>*{display:none}</style>',
        `</style><script>alert(1)</script>\n{{7*7}} \${7*7} &lt; ${'x'.repeat(60)}`,
      ),
    ],
    barcode: { format: 'code128', message: '"><svg onload=alert(1)>' },
  }),
  'unreadable colours': makeState('boarding_pass', {
    brand: {
      background_color: '#808080',
      foreground_color: '#7F7F7F',
      label_color: '#8A8A8A',
      logo_text: 'Grey',
    },
  }),
  'a code that cannot be drawn': makeState('gift_card', { barcode: { format: 'code128', message: '漢字' } }),
  'one main field of two': makeState('boarding_pass', { fields: [field('from', 'From', 'SFO')] }),
}

/** A PNG of many colours. */
export function picture(width: number, height: number): string {
  const rows = Buffer.alloc(height * (1 + width * 3))
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const wave = Math.sin(x / 60 + Math.cos(y / 40) * 2)
      rows.set(
        [140 + 90 * wave, 110 + 60 * Math.sin(y / 70), 90 + (130 * x) / width],
        y * (1 + width * 3) + 1 + x * 3,
      )
    }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const chunks = [chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([signature, ...chunks]).toString('base64')
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const ends = Buffer.alloc(8)
  ends.writeUInt32BE(data.length, 0)
  ends.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)])
}
