import type { PassField, PassKind } from './pass-state.ts'

/** The area of a pass that shows a field. Only posters have a footer. */
export type FieldGroup = 'header' | 'primary' | 'secondary' | 'auxiliary' | 'footer' | 'back'

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
 * The front areas that a template's fields fill, in order, with the number of fields for each area. The numbers are
 * what Apple displays next to a strip image and a square barcode (Apple, "Pass Design and Creation", the styles).
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

/** Areas of a generic poster (Apple, "Creating a poster generic pass"). */
const POSTER: Places = [
  ['primary', 4],
  ['header', 1],
  ['footer', 1],
]

/** Longer values, and values with line breaks, would be cut off on the front. */
const MAX_ON_FRONT = 60

/** Assigns fields to areas, in order. Long values and fields that find no room on the front go to the back. */
export function arrangeFields(kind: PassKind, fields: readonly PassField[]): PassLayout {
  return arrange(PLACES[kind], fields)
}

/** Assigns fields to the areas of a generic poster, in order. */
export function arrangePoster(fields: readonly PassField[]): PassLayout {
  return arrange(POSTER, fields)
}

function arrange(places: Places, fields: readonly PassField[]): PassLayout {
  const layout = { header: [], primary: [], secondary: [], auxiliary: [], footer: [], back: [] } as {
    [Group in FieldGroup]: PassField[]
  }
  for (const field of fields) {
    const isLong = field.value.length > MAX_ON_FRONT || /[\r\n]/.test(field.value)
    const place = isLong ? undefined : places.find(([group, room]) => layout[group].length < room)
    layout[place?.[0] ?? 'back'].push(field)
  }
  return layout
}
