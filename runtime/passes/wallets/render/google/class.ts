import type { PassKind } from '../pass-state.ts'
import { googleId } from './kinds.ts'
import {
  type GoogleIssuer,
  type GoogleResource,
  imageOf,
  localizedName,
  notifyPreference,
  type TemplateState,
  translatedName,
} from './resource.ts'

/**
 * Path to which Google posts save and delete callbacks. The space follows in the path, so no lookup is needed to find
 * it.
 */
export const CALLBACK_PATH = '/google/v1/callback/'

/** Fields in one row on the front of a card. Google shows at most three. */
const ROW = 3
const MAX_ROWS = 2

/** Members that depend on the kind of class. */
const OWN: Readonly<Record<PassKind, (template: TemplateState, issuer: GoogleIssuer) => object>> = {
  loyalty: (template, issuer) => ({
    ...shown(template, issuer),
    programName: template.name,
    localizedProgramName: translatedName(template),
    programLogo: imageOf(issuer, template, 'logo'),
  }),
  gift_card: (template, issuer) => ({
    ...shown(template, issuer),
    merchantName: template.name,
    localizedMerchantName: translatedName(template),
    programLogo: imageOf(issuer, template, 'logo'),
  }),
  coupon: (template, issuer) => ({
    ...shown(template, issuer),
    title: template.name,
    localizedTitle: translatedName(template),
    provider: template.organization,
    redemptionChannel: 'BOTH',
    titleImage: imageOf(issuer, template, 'logo'),
  }),
  event_ticket: (template, issuer) => ({
    ...shown(template, issuer),
    eventName: localizedName(template),
    dateTime: eventTime(template),
    logo: imageOf(issuer, template, 'logo'),
  }),
  boarding_pass: (template, issuer) => ({
    ...shown(template, issuer),
    transitType: 'OTHER',
    logo: imageOf(issuer, template, 'logo'),
  }),
  // A generic class has no visible members; its objects have the name, color and images.
  generic: () => ({}),
}

/**
 * Returns the class for a template. `reviewStatus` must be sent each time, because Google also reviews changes of a
 * class. Only one holder can save an object, on all of their devices, so a delete callback means that no wallet has it.
 */
export function classOf(template: TemplateState, issuer: GoogleIssuer): GoogleResource {
  const { space, templateId, kind, fieldKeys, locations, options } = template
  const { redemption_issuers: redemptionIssuers } = options?.smart_tap ?? {}
  return {
    id: googleId(issuer.issuerId, templateId),
    ...OWN[kind](template, issuer),
    multipleDevicesAndHoldersAllowedStatus: 'ONE_USER_ALL_DEVICES',
    // Google rejects callback URLs without https. A service that Google cannot reach gets no callbacks.
    callbackOptions: issuer.baseUrl.startsWith('https:')
      ? { url: `${issuer.baseUrl}${CALLBACK_PATH}${space}` }
      : null,
    classTemplateInfo: fieldKeys.length === 0 ? null : frontOf(fieldKeys),
    merchantLocations:
      locations.length === 0 ? null : locations.map(({ latitude, longitude }) => ({ latitude, longitude })),
    enableSmartTap: redemptionIssuers ? true : null,
    redemptionIssuers: redemptionIssuers ?? null,
  }
}

/** Returns the members of all kinds except generic. */
function shown(template: TemplateState, issuer: GoogleIssuer): object {
  return {
    issuerName: template.organization,
    reviewStatus: 'UNDER_REVIEW',
    hexBackgroundColor: template.brand.background_color,
    heroImage: imageOf(issuer, template, 'strip'),
    notifyPreference: notifyPreference(template),
  }
}

/** Returns the time of the event; null if the template has no date. */
function eventTime({ options }: TemplateState): unknown {
  const [date] = options?.relevant_dates ?? []
  return date ? { start: date.starts_at, ...(date.ends_at !== undefined && { end: date.ends_at }) } : null
}

function frontOf(keys: readonly string[]): object {
  return {
    cardTemplateOverride: { cardRowTemplateInfos: frontRows(keys).map((row) => rowOf(row.map(itemOf))) },
  }
}

/** Returns the first fields in rows, for the front of the card. The details of the card show all fields. */
export function frontRows<Field>(fields: readonly Field[]): readonly (readonly Field[])[] {
  const rows: (readonly Field[])[] = []
  for (let at = 0; at < fields.length && rows.length < MAX_ROWS; at += ROW)
    rows.push(fields.slice(at, at + ROW))
  return rows
}

function rowOf([first, second, third]: readonly object[]): object {
  if (third) return { threeItems: { startItem: first, middleItem: second, endItem: third } }
  return second ? { twoItems: { startItem: first, endItem: second } } : { oneItem: { item: first } }
}

function itemOf(key: string): object {
  return { firstValue: { fields: [{ fieldPath: `object.textModulesData['${key}']` }] } }
}
