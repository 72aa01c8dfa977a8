/**
 * The shapes of classes and objects in Google Wallet (REST reference, v1): the members that the service may send, those
 * that Google requires, and the values of its enumerations.
 */
import { flag, listOf, matching, members, oneOf, type ShapeCheck, text, within } from './shapes.ts'

const id = matching(/^\d+\.[\w.-]+$/, 'must be the issuer’s number, a dot, and letters, digits, . _ or -')
const uri = matching(/^[a-z][a-z0-9+.-]*:\S+$/i, 'URIs must have a scheme')
const httpsUrl = matching(/^https:\/\/[^/\s]+/, 'must be an https URL')
const translated = members({ 'language!': text, 'value!': text })
const localized = members({ 'defaultValue!': translated, translatedValues: listOf(translated) })
const image = members({ 'sourceUri!': members({ 'uri!': uri }), contentDescription: localized })
const color = matching(/^#([0-9a-f]{6}|[0-9a-f]{3})$/i, 'must be #rrggbb')
const instant = members({
  'date!': matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?$/, 'must be ISO 8601'),
})

const notifyPreference = oneOf('NOTIFICATION_SETTINGS_FOR_UPDATES_UNSPECIFIED', 'NOTIFY_ON_UPDATE')

const firstValue = members({
  'firstValue!': members({
    'fields!': listOf(
      members({
        'fieldPath!': matching(/^(object|class)\.\w+(\['[\w-]+'\])?$/, 'must be a path of a field'),
      }),
    ),
  }),
})
const row = members({
  oneItem: members({ 'item!': firstValue }),
  twoItems: members({ 'startItem!': firstValue, 'endItem!': firstValue }),
  threeItems: members({ 'startItem!': firstValue, 'middleItem!': firstValue, 'endItem!': firstValue }),
})

const everyClass = {
  'id!': id,
  multipleDevicesAndHoldersAllowedStatus: oneOf(
    'MULTIPLE_HOLDERS',
    'ONE_USER_ALL_DEVICES',
    'ONE_USER_ONE_DEVICE',
  ),
  callbackOptions: members({ 'url!': httpsUrl }),
  classTemplateInfo: members({
    cardTemplateOverride: members({ 'cardRowTemplateInfos!': listOf(row, 3) }),
  }),
  enableSmartTap: flag,
  redemptionIssuers: listOf(matching(/^\d+$/, 'must be the number of an issuer')),
  merchantLocations: listOf(members({ 'latitude!': within(-90, 90), 'longitude!': within(-180, 180) }), 10),
}

const reviewedClass = {
  ...everyClass,
  'issuerName!': text,
  // Only Google sets `APPROVED` and `REJECTED`.
  'reviewStatus!': oneOf('DRAFT', 'UNDER_REVIEW'),
  hexBackgroundColor: color,
  heroImage: image,
  notifyPreference,
}

/** Body of `addMessage`, and messages of objects. */
const message = members({
  id: text,
  header: text,
  body: text,
  messageType: oneOf('TEXT', 'TEXT_AND_NOTIFY'),
  localizedHeader: localized,
  localizedBody: localized,
  displayInterval: members({ start: instant, end: instant }),
})

export const MESSAGE_REQUEST = members({ 'message!': message })

const link = members({
  'title!': localized,
  'description!': localized,
  'appTarget!': members({ 'targetUri!': members({ 'uri!': uri }) }),
})

const everyObject = {
  smartTapRedemptionValue: matching(/^[\x20-\x7e]*$/, 'must be ASCII'),
  groupingInfo: members({ 'groupingId!': text }),
  appLinkData: members({ androidAppLinkInfo: link, webAppLinkInfo: link }),
  messages: listOf(message, 10),
  'id!': id,
  'classId!': id,
  barcode: members({
    'type!': oneOf(
      'AZTEC',
      'CODE_39',
      'CODE_128',
      'CODABAR',
      'DATA_MATRIX',
      'EAN_8',
      'EAN_13',
      'ITF_14',
      'PDF_417',
      'QR_CODE',
      'UPC_A',
      'TEXT_ONLY',
    ),
    'value!': text,
    alternateText: text,
  }),
  rotatingBarcode: members({
    'type!': oneOf('PDF_417', 'QR_CODE'),
    valuePattern: matching(/\{totp_value_0\}/, 'must contain a substitution'),
    totpDetails: members({
      'algorithm!': oneOf('TOTP_SHA1'),
      'periodMillis!': matching(/^\d+$/, 'must be a number as text (TYPE_INT64)'),
      'parameters!': listOf(
        members({
          'key!': matching(/^([0-9a-f]{2})+$/i, 'must be Base16'),
          'valueLength!': within(1, 10),
        }),
      ),
    }),
  }),
  textModulesData: listOf(
    members({
      'id!': matching(/^[\w-]+$/, 'must be letters, digits, _ or -'),
      header: text,
      body: text,
      localizedHeader: localized,
      localizedBody: localized,
    }),
  ),
  validTimeInterval: members({ start: instant, end: instant }),
  linksModuleData: members({ 'uris!': listOf(members({ 'uri!': uri, id: text, description: text })) }),
}

const state = oneOf('ACTIVE', 'COMPLETED', 'EXPIRED', 'INACTIVE')

/** Members of all objects except generic ones. */
const shownObject = { ...everyObject, 'state!': state, notifyPreference }

/** Shapes by resource type, the last segment of the path. */
export const CLASS_SHAPES: Readonly<Record<string, ShapeCheck>> = {
  loyaltyClass: members({
    ...reviewedClass,
    'programName!': text,
    localizedProgramName: localized,
    'programLogo!': image,
  }),
  giftCardClass: members({
    ...reviewedClass,
    merchantName: text,
    localizedMerchantName: localized,
    programLogo: image,
  }),
  offerClass: members({
    ...reviewedClass,
    'title!': text,
    localizedTitle: localized,
    'provider!': text,
    'redemptionChannel!': oneOf('INSTORE', 'ONLINE', 'BOTH', 'TEMPORARY_PRICE_REDUCTION'),
    titleImage: image,
  }),
  eventTicketClass: members({
    ...reviewedClass,
    'eventName!': localized,
    dateTime: members({ start: text, end: text }),
    logo: image,
  }),
  transitClass: members({
    ...reviewedClass,
    'transitType!': oneOf('BUS', 'RAIL', 'TRAM', 'FERRY', 'OTHER'),
    'logo!': image,
  }),
  genericClass: members(everyClass),
}

export const OBJECT_SHAPES: Readonly<Record<string, ShapeCheck>> = {
  loyaltyObject: members({ ...shownObject, accountName: text, accountId: text }),
  giftCardObject: members({ ...shownObject, 'cardNumber!': text }),
  offerObject: members(shownObject),
  eventTicketObject: members({ ...shownObject, ticketHolderName: text }),
  transitObject: members({
    ...shownObject,
    'tripType!': oneOf('ROUND_TRIP', 'ONE_WAY'),
    passengerNames: text,
  }),
  genericObject: members({
    ...everyObject,
    state,
    'cardTitle!': localized,
    'header!': localized,
    subheader: localized,
    hexBackgroundColor: color,
    logo: image,
    heroImage: image,
  }),
}
