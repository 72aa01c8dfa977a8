/** The template form, next to a preview of its passes. */
import type { ErrorBody } from '../../../api/errors/errors.ts'
import { IMAGE_RULES } from '../../../passes/templates/rules.ts'
import { png } from '../../../passes/wallets/render/page/front.ts'
import { PASS_KINDS } from '../../../passes/wallets/render/pass-state.ts'
import { type Html, html } from '../../../platform/html.ts'
import { type ShownCall, writeCalls } from '../../engine/api-call.ts'
import { describe, faultOf, keyField } from '../../engine/form-page.ts'
import { words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { choice, field, notice, textArea } from '../../html/components.ts'
import { icon } from '../../html/icons.ts'
import {
  BARCODE_FORMATS,
  contentOf,
  createBody,
  draftOf,
  IMAGES,
  patchBody,
  readTranslations,
  type TemplateDraft,
  type TemplateImage,
  type TemplateObject,
  writeDigest,
} from './draft.ts'
import { writeOptions } from './options.ts'
import type { BarcodeSamples } from './preview.ts'
import { MAX_FIELDS, MAX_LOCATIONS } from './typed.ts'

export interface Editor {
  /** Target of the form. */
  readonly address: string
  /** Target of the Back link. */
  readonly back: string
  readonly draft: TemplateDraft
  /** The stored template. Absent for a new template. */
  readonly template?: TemplateObject | undefined
  readonly error?: ErrorBody | undefined
  /** Message above the form. */
  readonly news?: Html | undefined
  readonly preview: Html
  /** Language of the preview; empty for that of the template. */
  readonly language: string
  readonly samples: BarcodeSamples
}

/** Name of the hidden field with the state of the template when the form was loaded. */
export const BEGAN = 'began'

/** Name of the field with the language of the preview. */
export const LANGUAGE = 'preview_language'

export function writeEditor(visit: DashboardVisit, editor: Editor): Html {
  const { address, back, draft, template, error, news, preview, language, samples } = editor
  const fault = (name: string) => faultOf(name, error)
  return html`${error && notice('bad', (error.details ?? []).length > 0 ? 'Check the highlighted fields.' : describe(error))}
${news}
<p class="to-preview"><a class="button second" href="#preview">${icon('eye')}Preview</a></p>
<div class="studio">
<form method="post" action="${address}" enctype="multipart/form-data" data-preview>
${visit.guard(address)}${keyField()}
${template && html`<input type="hidden" name="${BEGAN}" value="${writeDigest(contentOf(draftOf(template)))}">`}
<button class="first" type="submit" tabindex="-1" aria-hidden="true">Save template</button>
${writeBasics(draft, template !== undefined, fault)}
${writeBrand(draft, template, fault)}
${writeFields(draft, fault)}
${writeBarcode(draft, samples, fault)}
${writeLocations(draft, fault)}
${writeOptions(draft.options, fault)}
${writeLanguages(draft, language, fault)}
${textArea({ name: 'semantics', label: 'Semantic tags', optional: true, rows: 3, value: draft.semantics, hint: 'What the pass is about, by Apple’s names. One tag per line: eventName = Harbour Nights.', fault: fault('semantics') })}
${textArea({ name: 'metadata', label: 'Metadata', optional: true, rows: 3, value: draft.metadata, hint: 'Key-value pairs for your integration. One pair per line: key = value.', fault: fault('metadata') })}
<div class="actions"><button type="submit">${template ? 'Save template' : 'Create template'}</button> <button class="second" type="submit" name="do" value="preview" formnovalidate>Update preview</button> <a class="button second" href="${back}">Back</a></div>
${writeCalls([callOf(draft, template)], visit.apiUrl)}
</form>
${preview}
</div>`
}

/** Returns the call that saves the draft. Images are left out, because they are long. */
function callOf(draft: TemplateDraft, template: TemplateObject | undefined): ShownCall {
  const stored = template && draftOf(template)
  const images = IMAGES.filter((name) => !['', stored?.brand[name]].includes(draft.brand[name]))
  const named = Object.fromEntries(images.map((name) => [name, `${name.toUpperCase()}_AS_BASE64`]))
  const brief = { ...draft, brand: { ...draft.brand, ...named } }
  if (!template || !stored) return { operation: 'createPassTemplate', path: {}, body: createBody(brief) }
  const body = patchBody(contentOf(stored), contentOf(brief))
  return { operation: 'updatePassTemplate', path: { template_id: template.id }, body }
}

type FaultOf = (name: string) => string | undefined

function writeBasics({ name, kind }: TemplateDraft, isStored: boolean, fault: FaultOf): Html {
  return html`${field({ name: 'name', label: 'Name', value: name, hint: 'Shown as the title of each pass.', fault: fault('name') })}
${
  isStored
    ? html`<p class="quiet">Kind: ${words(kind)}. You cannot change the kind of a template.</p>`
    : choice({
        name: 'kind',
        label: 'Kind',
        value: kind,
        options: PASS_KINDS.map((each) => [each, words(each)] as const),
        fault: fault('kind'),
      })
}`
}

function writeBrand({ brand }: TemplateDraft, template: TemplateObject | undefined, fault: FaultOf): Html {
  const one = (name: Exclude<keyof TemplateDraft['brand'], TemplateImage>, label: string) => {
    const path = `brand.${name}`
    return { name: path, label, value: brand[name], fault: fault(path) }
  }
  return html`<fieldset><legend>Brand</legend>
<div class="columns">
${field({ ...one('background_color', 'Background color'), type: 'color' })}
${field({ ...one('foreground_color', 'Text color'), type: 'color' })}
${field({ ...one('label_color', 'Label color'), optional: true, hint: 'For example, #b8c7d9. Leave empty to use the text color.' })}
</div>
${field({ ...one('logo_text', 'Logo text'), optional: true })}
${IMAGES.map((name) => writeImage(name, brand[name], template?.brand[name] ?? '', fault(`brand.${name}`)))}
</fieldset>`
}

interface ImageSlot {
  readonly label: string
  readonly hint: string
  /** Shapes to crop to, in pixels. */
  readonly shapes: readonly (readonly [text: string, width: number, height: number])[]
}

const { icon: square, logo, strip } = IMAGE_RULES

const SLOTS: Readonly<Record<TemplateImage, ImageSlot>> = {
  logo: {
    label: 'Logo',
    hint: 'At the top of the pass.',
    shapes: [
      ['Square', logo.height, logo.height],
      ['Wide', logo.width, logo.height],
    ],
  },
  strip: {
    label: 'Strip image',
    hint: 'Behind the main field in Apple Wallet, and below the barcode in Google Wallet.',
    shapes: [['Strip', strip.width, strip.height]],
  },
  icon: {
    label: 'Icon',
    hint: 'On the lock screen and in notifications. If you select no icon, one is drawn from the colors.',
    shapes: [['Square', square.width, square.height]],
  },
}

function sizeHint(name: TemplateImage): string {
  const { width, height, bytes } = IMAGE_RULES[name]
  return `PNG, up to ${width} × ${height} pixels and ${bytes / 1024} KB.`
}

/** Browsers do not resend a file, so an image that is not stored yet is carried in a hidden field. */
function writeImage(name: TemplateImage, value: string, stored: string, issue: string | undefined): Html {
  const { label, hint, shapes } = SLOTS[name]
  const id = `${name}_file`
  const { bytes } = IMAGE_RULES[name]
  const isLarge = Buffer.byteLength(value, 'base64') > bytes
  const fault =
    issue &&
    (isLarge ? `The picture is larger than ${bytes / 1024} KB.` : issue.replace(/^Is /, 'The picture is '))
  return html`<div class="field picture" data-picture="${label}" data-shapes="${JSON.stringify(shapes)}" data-bytes="${String(bytes)}"><label for="${id}">${label}</label>
${value !== '' && html`<p class="chosen"><img src="${png(value)}" alt="${label}, selected image"> <label><input type="checkbox" name="${name}_remove" value="yes"> Remove</label></p>`}
<input id="${id}" name="${id}" type="file" accept="image/png" aria-describedby="${fault !== undefined && `${id}-fault `}${id}-hint"${fault !== undefined && html` aria-invalid="true"`}>
${value !== stored && html`<input type="hidden" name="brand.${name}" value="${value}">`}
${fault !== undefined && html`<p class="fault" id="${id}-fault">${fault}</p>`}<p class="hint" id="${id}-hint">${hint} ${sizeHint(name)}</p></div>`
}

function writeFields({ fields }: TemplateDraft, fault: FaultOf): Html {
  return html`<fieldset data-rows><legend>Fields</legend>
<p class="quiet">Wallets show the fields in this order. The first field is the largest. Your integration names a field by its key, such as points. A phone shows the message when the value changes on a pass, with the new value in place of %@: “You have %@ points now.”</p>
${fields.map((each, index) => {
  const given = (name: keyof typeof each, label: string) => {
    const path = `fields[${index}].${name}`
    return { name: path, label, value: each[name], optional: name !== 'key', fault: fault(path) }
  }
  return writeRow(
    `Field ${index + 1}`,
    [
      field(given('label', 'Label')),
      field(given('key', 'Key')),
      textArea({ ...given('value', 'Value'), rows: 1 }),
      field(given('change_message', 'Message when the value changes')),
      textArea({ ...given('translations', 'Translations'), rows: 1 }),
    ],
    'fields',
    index,
    fields.length,
  )
})}
${fields.length < MAX_FIELDS && addButton('fields', 'Add field')}
</fieldset>`
}

function writeBarcode({ barcode }: TemplateDraft, samples: BarcodeSamples, fault: FaultOf): Html {
  return html`<fieldset><legend>Barcode</legend>
<div class="formats" role="radiogroup" aria-label="Format">${BARCODE_FORMATS.map(
    ([format, label]) =>
      html`<label><input type="radio" name="barcode.format" value="${format}"${format === barcode.format && html` checked`}><span>${samples.get(format)}${label}</span></label>`,
  )}</div>
${field({
  name: 'barcode.message',
  label: 'Content',
  optional: true,
  value: barcode.message,
  hint: 'Used for every pass. Leave empty to give each pass a unique barcode, which scans require.',
  fault: fault('barcode.message'),
})}
</fieldset>`
}

const LOCATION_LABELS = {
  latitude: ['Latitude', false],
  longitude: ['Longitude', false],
  altitude: ['Altitude in meters', true],
  relevant_text: ['Lock screen text', true],
  translations: ['Translations', true],
} as const

function writeLocations({ relevant_locations }: TemplateDraft, fault: FaultOf): Html {
  const names = Object.keys(LOCATION_LABELS) as (keyof typeof LOCATION_LABELS)[]
  return html`<fieldset><legend>Locations</legend>
<p class="hint">A phone shows the pass automatically near these locations.</p>
${relevant_locations.map((each, index) =>
  writeRow(
    `Location ${index + 1}`,
    names.map((name) => {
      const [label, optional] = LOCATION_LABELS[name]
      const path = `relevant_locations[${index}].${name}`
      const given = { name: path, label, value: each[name], optional, fault: fault(path) }
      return name === 'translations' ? textArea({ ...given, rows: 1 }) : field(given)
    }),
    'relevant_locations',
    index,
    relevant_locations.length,
  ),
)}
${relevant_locations.length < MAX_LOCATIONS && addButton('relevant_locations', 'Add location')}
</fieldset>`
}

function writeLanguages(draft: TemplateDraft, shown: string, fault: FaultOf): Html {
  const { language, translations, fields } = draft
  const lines = [translations, ...fields.map((each) => each.translations)].join('\n')
  const others = Object.keys(readTranslations(lines)).map((each) => [each, each] as const)
  return html`<fieldset><legend>Languages</legend>
<p class="hint">Phones show the texts in the language of the holder. Write one text per line: de.label = Punkte for a field, de = Ihr Kaffee ist nah. for a location.</p>
${field({ name: 'language', label: 'Language of the texts above', value: language, optional: true, hint: 'For example, en or pt-BR. Leave empty for English.', fault: fault('language') })}
${textArea({ name: 'translations', label: 'Translations of the name and the logo text', optional: true, rows: 2, value: translations, hint: 'For example, de.name = Kaffeekarte or de.logo_text = Hafenkaffee.', fault: fault('translations') })}
${choice({ name: LANGUAGE, label: 'Language of the preview', value: shown, options: [['', language || 'en'], ...others] })}
</fieldset>`
}

type List = 'fields' | 'relevant_locations'

function writeRow(name: string, controls: readonly Html[], list: List, index: number, rows: number): Html {
  const button = (verb: string, text: string) =>
    html`<button class="second small" type="submit" name="do" value="${verb}-${list}-${String(index)}" aria-label="${text}: ${name}" formnovalidate>${text}</button> `
  return html`<div class="row" role="group" aria-label="${name}"><div class="columns">${controls}</div>
<p><span class="handle" draggable="true" aria-hidden="true" hidden>${icon('grip-vertical')}</span>${index > 0 && button('up', 'Move up')}${index < rows - 1 && button('down', 'Move down')}${button('remove', 'Remove')}</p></div>`
}

function addButton(list: List, text: string): Html {
  return html`<p><button class="second small" type="submit" name="do" value="add-${list}" formnovalidate>${text}</button></p>`
}
