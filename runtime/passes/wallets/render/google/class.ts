import type { PassKind } from '../pass-state.ts'
import { googleId } from './kinds.ts'
import { type GoogleIssuer, type GoogleResource, imageOf, localized, type TemplateState } from './resource.ts'

/** Where Google tells of saves and deletions; the space stands in the address, so that nothing has to be looked up. */
export const CALLBACK_PATH = '/google/v1/callback/'

/** Fields of a card's front: rows of three, as Google shows them at most. */
const ROW = 3
const MAX_ROWS = 2

/** Members that one kind of class has and another has not. */
const OWN: Readonly<Record<PassKind, (template: TemplateState, issuer: GoogleIssuer) => object>> = {
  loyalty: (template, issuer) => ({
    ...shown(template, issuer),
    programName: template.name,
    programLogo: imageOf(issuer, template, 'logo'),
  }),
  gift_card: (template, issuer) => ({
    ...shown(template, issuer),
    merchantName: template.name,
    programLogo: imageOf(issuer, template, 'logo'),
  }),
  coupon: (template, issuer) => ({
    ...shown(template, issuer),
    title: template.name,
    provider: template.organization,
    redemptionChannel: 'BOTH',
    titleImage: imageOf(issuer, template, 'logo'),
  }),
  event_ticket: (template, issuer) => ({
    ...shown(template, issuer),
    eventName: localized(template.name),
    logo: imageOf(issuer, template, 'logo'),
  }),
  boarding_pass: (template, issuer) => ({
    ...shown(template, issuer),
    transitType: 'OTHER',
    logo: imageOf(issuer, template, 'logo'),
  }),
  // A generic class shows nothing itself: its objects have name, colour and pictures.
  generic: () => ({}),
}

/**
 * The class that stands for a template. `reviewStatus` has to be sent each time: a change of a class is reviewed too. One
 * holder may have an object, on all of their devices, so that a deletion means that nobody has it any more.
 */
export function classOf(template: TemplateState, issuer: GoogleIssuer): GoogleResource {
  const { space, templateId, kind, fieldKeys, locations } = template
  return {
    id: googleId(issuer.issuerId, templateId),
    ...OWN[kind](template, issuer),
    multipleDevicesAndHoldersAllowedStatus: 'ONE_USER_ALL_DEVICES',
    // Both are refused where the address is not https: a service that Google cannot reach hears of nothing.
    callbackOptions: issuer.baseUrl.startsWith('https:')
      ? { url: `${issuer.baseUrl}${CALLBACK_PATH}${space}` }
      : null,
    classTemplateInfo: fieldKeys.length === 0 ? null : frontOf(fieldKeys),
    merchantLocations:
      locations.length === 0 ? null : locations.map(({ latitude, longitude }) => ({ latitude, longitude })),
  }
}

/** What all kinds but the generic one have. */
function shown(template: TemplateState, issuer: GoogleIssuer): object {
  return {
    issuerName: template.organization,
    reviewStatus: 'UNDER_REVIEW',
    hexBackgroundColor: template.brand.background_color,
    heroImage: imageOf(issuer, template, 'strip'),
  }
}

function frontOf(keys: readonly string[]): object {
  return {
    cardTemplateOverride: { cardRowTemplateInfos: frontRows(keys).map((row) => rowOf(row.map(itemOf))) },
  }
}

/** The first of the fields, row by row, on the front of the card; all of them stand in its details anyway. */
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
