/** The optional content of a template in its form: each part is one control, with its value as text. */
import { type Html, html } from '../../../platform/html.ts'
import { choice, field, textArea } from '../../html/components.ts'
import { readTranslations, type TextsByLanguage, writeTranslations } from './lines.ts'

interface OptionInput {
  /** Path of the member in the API. */
  readonly name: string
  readonly label: string
  readonly hint?: string
  /** The choices of a list, or the number of lines of a text. Absent for a single line. */
  readonly control?: readonly (readonly [value: string, text: string])[] | number
  /** Converts the text to the value of the API. Text that it cannot read stays, so that the API reports the error. */
  readonly read?: (text: string) => unknown
  readonly write?: (value: unknown) => string
}

const lines = (text: string) =>
  text
    .split(/\r?\n|,/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

interface DraftDate {
  readonly starts_at: string
  readonly ends_at?: string
}

interface DraftSmartTap {
  readonly redemption_issuers: readonly string[]
}

const INPUTS: readonly OptionInput[] = [
  {
    name: 'relevant_dates',
    label: 'Dates',
    hint: 'A phone shows the pass automatically at these times. One per line, such as 2026-06-01T18:00:00Z, or a start and an end separated by a space.',
    control: 2,
    read: (text) =>
      lines(text).map((line) => {
        const [starts_at, ends_at] = line.split(/\s+/)
        return { starts_at, ...(ends_at !== undefined && { ends_at }) }
      }),
    write: (dates) =>
      (dates as readonly DraftDate[])
        .map(({ starts_at, ends_at = '' }) => `${starts_at} ${ends_at}`.trim())
        .join('\n'),
  },
  {
    name: 'grouping_identifier',
    label: 'Group',
    hint: 'Wallets show passes of a holder with the same group together.',
  },
  {
    name: 'sharing_prohibited',
    label: 'Sharing',
    control: [
      ['', 'Allowed'],
      ['true', 'Not allowed in Apple Wallet'],
    ],
    read: (text) => text === 'true',
  },
  {
    name: 'associated_store_identifiers',
    label: 'App Store identifiers',
    hint: 'Numbers of your apps, separated by commas.',
    read: (text) => lines(text).map((each) => (/^\d+$/.test(each) ? Number(each) : each)),
    write: (numbers) => (numbers as readonly number[]).join(', '),
  },
  { name: 'app_links.apple_url', label: 'App link for Apple Wallet' },
  { name: 'app_links.android_url', label: 'App link for Google Wallet' },
  { name: 'app_links.web_url', label: 'Website for Google Wallet' },
  {
    name: 'smart_tap',
    label: 'Smart Tap in Google Wallet',
    hint: 'Google Wallet issuer IDs of the merchants whose readers get the content of the barcode, separated by commas.',
    read: (text) => ({ redemption_issuers: lines(text) }),
    write: (smartTap) => (smartTap as DraftSmartTap).redemption_issuers.join(', '),
  },
  {
    name: 'notify_on_update',
    label: 'Updates in Google Wallet',
    control: [
      ['', 'Shown silently, except for change messages'],
      ['true', 'Google Wallet may notify the holder'],
    ],
    read: (text) => text === 'true',
  },
]

/** Inputs whose values the API takes together. */
interface OptionGroup {
  /** Name of the member in the API. */
  readonly name: string
  readonly legend: string
  readonly inputs: readonly OptionInput[]
  /** Returns the value of the API. @param text returns the text of one input, which has at least one. */
  readonly combine: (text: (name: string) => string) => object
}

const asNumber = (text: string) => (/^\d+$/.test(text) ? Number(text) : text)

const GROUPS: readonly OptionGroup[] = [
  {
    name: 'rotating_barcode',
    legend: 'Rotating barcode',
    inputs: [
      {
        name: 'rotating_barcode.period',
        label: 'Seconds until the barcode changes',
        hint: '15 to 3600. A picture of the barcode soon stops working. Leave empty for a fixed barcode.',
      },
      { name: 'rotating_barcode.digits', label: 'Digits that change', hint: '6 to 8.' },
      {
        name: 'rotating_barcode.fallback',
        label: 'Apple Wallet, which has no rotating barcode, shows',
        control: [
          ['', 'The fixed code, which scans accept'],
          ['no_code', 'No code'],
        ],
        write: (fallback) => (fallback === 'fixed_code' ? '' : String(fallback)),
      },
    ],
    combine: (text) => ({
      period: asNumber(text('period')),
      digits: asNumber(text('digits')),
      fallback: text('fallback') || 'fixed_code',
    }),
  },
  {
    name: 'nfc',
    legend: 'NFC in Apple Wallet',
    inputs: [
      {
        name: 'nfc.encryption_public_key',
        label: 'Public key of the readers',
        hint: 'A P-256 key with a compressed point, in base64. Without a key, passes send nothing.',
      },
      {
        name: 'nfc.message',
        label: 'Content for readers',
        hint: 'The same for every pass, at most 64 bytes. Leave empty to send the content of the barcode.',
      },
      {
        name: 'nfc.requires_authentication',
        label: 'Lock',
        control: [
          ['', 'Works on a locked phone'],
          ['true', 'The holder must unlock the phone'],
        ],
      },
    ],
    combine: (text) => ({
      encryption_public_key: text('encryption_public_key'),
      message: text('message') || null,
      requires_authentication: text('requires_authentication') === 'true',
    }),
  },
  {
    name: 'message_introduction',
    legend: 'Introduction of messages in Apple Wallet',
    inputs: [
      {
        name: 'message_introduction.header',
        label: 'Heading',
        hint: 'On the back of the pass until the first message. Without an introduction, the first message is silent.',
      },
      { name: 'message_introduction.body', label: 'Text' },
      {
        name: 'message_introduction.translations',
        label: 'Translations',
        hint: 'One text per line, such as de.header = Neues.',
        control: 2,
        write: (translations) => writeTranslations(translations as TextsByLanguage),
      },
    ],
    combine: (text) => ({
      header: text('header'),
      body: text('body'),
      ...(text('translations') !== '' && { translations: readTranslations(text('translations')) }),
    }),
  },
]

const ALL = [...INPUTS, ...GROUPS.flatMap(({ inputs }) => inputs)]

/** Texts by path in the API. An empty text means no value. */
export type OptionTexts = Readonly<Record<string, string>>

/** Returns the texts of a template. */
export function optionTexts(template: object): OptionTexts {
  return Object.fromEntries(
    ALL.map(({ name, write = String }) => {
      const value = name.split('.').reduce<unknown>(memberOf, template)
      return [name, value === undefined || value === false ? '' : write(value)]
    }),
  )
}

function memberOf(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>> | undefined)?.[name]
}

/** Returns the submitted texts. @param text returns a form field. */
export function readOptionTexts(text: (name: string) => string): OptionTexts {
  return Object.fromEntries(ALL.map(({ name }) => [name, text(name)]))
}

/** Returns the values for the API by path, null for no value. */
export function optionValues(texts: OptionTexts): Readonly<Record<string, unknown>> {
  const values = INPUTS.map(({ name, read = String }) => [name, texts[name] ? read(texts[name]) : null])
  const groups = GROUPS.map(({ name, inputs, combine }) => {
    const hasText = inputs.some((input) => texts[input.name])
    return [name, hasText ? combine((part) => texts[`${name}.${part}`] ?? '') : null]
  })
  return Object.fromEntries([...values, ...groups])
}

/** Returns the member of the API in which the value of a text is. */
export function memberOfText(path: string): string {
  return GROUPS.find(({ name }) => path.startsWith(`${name}.`))?.name ?? path
}

export function writeOptions(texts: OptionTexts, faultOf: (name: string) => string | undefined): Html {
  const inputs = (all: readonly OptionInput[], group?: string) =>
    all.map(({ name, label, hint, control }, index) => {
      // A fault of a group as a whole is shown at its first input.
      const fault = faultOf(name) ?? (group !== undefined && index === 0 ? faultOf(group) : undefined)
      const given = { name, label, value: texts[name] ?? '', optional: true, hint, fault }
      if (typeof control === 'object') return choice({ ...given, options: control })
      return control === undefined ? field(given) : textArea({ ...given, rows: control })
    })
  return html`<fieldset><legend>Dates, groups, apps and readers</legend>
${inputs(INPUTS)}
</fieldset>
${GROUPS.map(
  ({ name, legend, inputs: own }) => html`<fieldset><legend>${legend}</legend>
${inputs(own, name)}
</fieldset>`,
)}`
}
