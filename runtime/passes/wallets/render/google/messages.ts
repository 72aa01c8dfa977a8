/** Messages of objects (Google Wallet, REST reference, v1, "Message"). */
import type { PassState } from '../pass-state.ts'

export interface GoogleMessage {
  readonly id: string
  readonly header: string
  readonly body: string
  /** With `TEXT_AND_NOTIFY`, the phone shows a notification. Google allows three of these for an object in 24 hours. */
  readonly messageType: 'TEXT' | 'TEXT_AND_NOTIFY'
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
  { name, fields, changed }: Pick<PassState, 'name' | 'fields' | 'changed'>,
  { textModulesData = [], messages = [] }: KnownObject,
): GoogleMessage | undefined {
  const known = new Map(textModulesData.map(({ id, body = '' }) => [id, body]))
  const lines = fields.flatMap(({ key, value, change_message }) => {
    const before = known.get(key)
    if (change_message === undefined || before === undefined || before === value) return []
    return [fillIn(change_message, value)]
  })
  const id = `change-${changed}`
  if (lines.length === 0 || messages.some((each) => each.id === id)) return undefined
  return { id, header: name, body: lines.join('\n'), messageType: 'TEXT_AND_NOTIFY' }
}

/** Replaces `%@` by the value. */
export function fillIn(changeMessage: string, value: string): string {
  return changeMessage.split('%@').join(value)
}
