/** Messages of objects (Google Wallet, REST reference, v1, "Message"). */
import { fieldIn, languageOf, languagesOf, translationsOf } from '../languages.ts'
import type { PassState } from '../pass-state.ts'
import { localized, localizedName } from './resource.ts'

export interface GoogleMessage {
  readonly id: string
  readonly header: string
  readonly body: string
  readonly localizedHeader?: unknown
  readonly localizedBody?: unknown
  /** With `TEXT_AND_NOTIFY`, the phone shows a notification. Google allows three of these for an object in 24 hours. */
  readonly messageType: 'TEXT' | 'TEXT_AND_NOTIFY'
  readonly displayInterval?: unknown
}

/** The parts of an object that were read from Google. */
export interface KnownObject {
  readonly textModulesData?: readonly { readonly id?: string; readonly body?: string }[]
  readonly messages?: readonly { readonly id?: string }[]
}

/** Maximum number of messages of an object. */
export const MAX_MESSAGES = 10

/** Whether a change of the pass can lead to a message. */
export function canSpeak({ fields }: Pick<PassState, 'fields'>): boolean {
  return fields.some(({ change_message }) => change_message !== undefined)
}

/**
 * Returns the message for the fields whose value differs from the object that Google has. Returns undefined if no such
 * field has a change message, or if the object has the message already: an earlier attempt was interrupted after it.
 */
export function changeMessage(
  pass: Pick<PassState, 'name' | 'fields' | 'changed' | 'options'>,
  { textModulesData = [], messages = [] }: KnownObject,
): GoogleMessage | undefined {
  const known = new Map(textModulesData.map(({ id, body = '' }) => [id, body]))
  const told = pass.fields.filter(({ key, value, change_message }) => {
    const before = known.get(key)
    return change_message !== undefined && before !== undefined && before !== value
  })
  const id = `change-${pass.changed}`
  if (told.length === 0 || messages.some((each) => each.id === id)) return undefined
  const bodies = languagesOf(told).map((each) => [
    each,
    writeChanges(told.map((field) => fieldIn(field, each))),
  ])
  const body = writeChanges(told)
  return {
    id,
    header: pass.name,
    body,
    ...(bodies.length > 0 && {
      localizedHeader: localizedName(pass),
      localizedBody: localized(body, languageOf(pass), Object.fromEntries(bodies)),
    }),
    messageType: 'TEXT_AND_NOTIFY',
  }
}

/** A message that Google gets later than this does not notify: the service or Google was not available for long. */
const MAX_DELAY_MS = 86_400_000

/**
 * Returns the messages to the holder that the object lacks, in the order in which they were sent.
 *
 * @param now service time.
 */
export function missingMessages(
  pass: Pick<PassState, 'messages' | 'options'>,
  { messages = [] }: KnownObject,
  now: number,
): readonly GoogleMessage[] {
  const known = new Set(messages.map(({ id }) => id))
  const missing = (pass.messages ?? []).filter(({ id, isDueAtGoogle }) => isDueAtGoogle && !known.has(id))
  return missing.toReversed().map(({ id, header, body, translations, sentAt, endsAt }) => {
    const language = languageOf(pass)
    return {
      id,
      header,
      body,
      ...(Object.keys(translations).length > 0 && {
        localizedHeader: localized(header, language, translationsOf(translations, 'header')),
        localizedBody: localized(body, language, translationsOf(translations, 'body')),
      }),
      messageType: now - sentAt > MAX_DELAY_MS ? 'TEXT' : 'TEXT_AND_NOTIFY',
      ...(endsAt !== null && { displayInterval: { end: { date: new Date(endsAt).toISOString() } } }),
    }
  })
}

/** Returns the change messages with their values, one on each line. */
function writeChanges(fields: PassState['fields']): string {
  return fields.map(({ change_message = '', value }) => change_message.split('%@').join(value)).join('\n')
}
