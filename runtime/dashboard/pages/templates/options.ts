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
]

/** Texts by path in the API. An empty text means no value. */
export type OptionTexts = Readonly<Record<string, string>>

/** Returns the texts of a template. */
export function optionTexts(template: object): OptionTexts {
  return Object.fromEntries(
    INPUTS.map(({ name, write = String }) => {
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
  return Object.fromEntries(INPUTS.map(({ name }) => [name, text(name)]))
}

/** Returns the values for the API by path, null for no value. */
export function optionValues(texts: OptionTexts): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    INPUTS.map(({ name, read = String }) => [name, texts[name] ? read(texts[name]) : null]),
  )
}

export function writeOptions(texts: OptionTexts, faultOf: (name: string) => string | undefined): Html {
  return html`<fieldset><legend>Dates, groups and apps</legend>
${INPUTS.map(({ name, label, hint, control }) => {
  const given = { name, label, value: texts[name] ?? '', optional: true, hint, fault: faultOf(name) }
  if (typeof control === 'object') return choice({ ...given, options: control })
  return control === undefined ? field(given) : textArea({ ...given, rows: control })
})}
</fieldset>`
}
