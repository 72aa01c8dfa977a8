/** The optional content of a template in its form: each part is one control, with its value as text. */
import { type Html, html } from '../../../platform/html.ts'
import { choice, field, textArea } from '../../html/components.ts'

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

/** What a pass sends to NFC readers. The API takes all members together. */
const NFC_INPUTS: readonly OptionInput[] = [
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
]

const ALL = [...INPUTS, ...NFC_INPUTS]

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
  return { ...Object.fromEntries(values), nfc: nfcOf(texts) }
}

/** Returns the member of the API in which the value of a text is. */
export function memberOfText(path: string): string {
  return path.startsWith('nfc.') ? 'nfc' : path
}

function nfcOf(texts: OptionTexts): object | null {
  const [encryption_public_key, message, locked] = NFC_INPUTS.map(({ name }) => texts[name] ?? '')
  if (!encryption_public_key && !message && !locked) return null
  return { encryption_public_key, message: message || null, requires_authentication: locked === 'true' }
}

export function writeOptions(texts: OptionTexts, faultOf: (name: string) => string | undefined): Html {
  const inputs = (all: readonly OptionInput[]) =>
    all.map(({ name, label, hint, control }) => {
      // A fault of `nfc` as a whole is shown at its first input.
      const fault = faultOf(name) ?? (name === NFC_INPUTS[0]!.name ? faultOf('nfc') : undefined)
      const given = { name, label, value: texts[name] ?? '', optional: true, hint, fault }
      if (typeof control === 'object') return choice({ ...given, options: control })
      return control === undefined ? field(given) : textArea({ ...given, rows: control })
    })
  return html`<fieldset><legend>Dates, groups, apps and readers</legend>
${inputs(INPUTS)}
</fieldset>
<fieldset><legend>NFC in Apple Wallet</legend>
${inputs(NFC_INPUTS)}
</fieldset>`
}
