import type { PassField, PassKind } from './pass-state.ts'

/** Where wallets show a field: above, large, in two rows below, or on the back. */
export type FieldGroup = 'header' | 'primary' | 'secondary' | 'auxiliary' | 'back'

export type PassLayout = Readonly<Record<FieldGroup, readonly PassField[]>>

type Places = readonly (readonly [FieldGroup, number])[]

const CARD: Places = [
  ['primary', 1],
  ['secondary', 2],
  ['auxiliary', 2],
  ['header', 1],
]

const SHEET: Places = [
  ['primary', 1],
  ['secondary', 3],
  ['auxiliary', 3],
  ['header', 1],
]

/**
 * Places on the front in the order in which a template's fields take them, as many as Apple has room for beside a strip and a
 * square barcode (Apple, "Pass Design and Creation", the styles).
 */
const PLACES: Readonly<Record<PassKind, Places>> = {
  loyalty: CARD,
  gift_card: CARD,
  coupon: CARD,
  event_ticket: SHEET,
  generic: SHEET,
  boarding_pass: [
    ['primary', 2],
    ['auxiliary', 4],
    ['secondary', 4],
    ['header', 2],
  ],
}

/** A value that is longer, or has more lines, is cut off on the front. */
const MAX_ON_FRONT = 60

/** The fields of a pass by where they are shown: in their order, what is long or left over on the back. */
export function arrangeFields(kind: PassKind, fields: readonly PassField[]): PassLayout {
  const layout = { header: [], primary: [], secondary: [], auxiliary: [], back: [] } as {
    [Group in FieldGroup]: PassField[]
  }
  for (const field of fields) {
    const isLong = field.value.length > MAX_ON_FRONT || /[\r\n]/.test(field.value)
    const place = isLong ? undefined : PLACES[kind].find(([group, room]) => layout[group].length < room)
    layout[place?.[0] ?? 'back'].push(field)
  }
  return layout
}
