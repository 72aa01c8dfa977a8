/** The template form, next to a preview of its passes. */
import type { ErrorBody } from '../../../api/errors/errors.ts'
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
  LOCAL_IMAGES,
  POSTER_IMAGES,
  patchBody,
  type TemplateDraft,
  type TemplateImage,
  type TemplateObject,
  writeDigest,
} from './draft.ts'
import { writeImage } from './image-inputs.ts'
import { readTranslations } from './lines.ts'
import { writeOptions } from './options.ts'
import type { BarcodeSamples } from './preview.ts'
import { MAX_FIELDS, MAX_LANGUAGES, MAX_LOCATIONS } from './typed.ts'

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
${writePoster(draft, template, fault)}
${writeLanguages(draft, language, fault)}
${writeLocalImages(draft, template, fault)}
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
  const named = inWords(images)
  const poster = POSTER_IMAGES.filter((name) => !['', stored?.poster[name]].includes(draft.poster[name]))
  const brief = {
    ...draft,
    brand: { ...draft.brand, ...named },
    poster: { ...draft.poster, ...inWords(poster) },
    images: draft.images.map((each) => ({
      ...each,
      ...inWords(LOCAL_IMAGES.filter((name) => each[name] !== '')),
    })),
  }
  if (!template || !stored) return { operation: 'createPassTemplate', path: {}, body: createBody(brief) }
  const body = patchBody(contentOf(stored), contentOf(brief))
  return { operation: 'updatePassTemplate', path: { template_id: template.id }, body }
}

function inWords(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, `${name.toUpperCase()}_AS_BASE64`]))
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
${IMAGES.map((name) => {
  const path = `brand.${name}`
  return writeImage({
    name,
    path,
    value: brand[name],
    stored: template?.brand[name] ?? '',
    fault: fault(path),
  })
})}
</fieldset>`
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

/** Writes the images of Apple Wallet’s poster layout. */
function writePoster({ poster }: TemplateDraft, template: TemplateObject | undefined, fault: FaultOf): Html {
  return html`<fieldset><legend>Poster in Apple Wallet</legend>
<p class="hint">With artwork, new phones show the pass as a poster, and older ones as before. The preview lists what is missing.</p>
${POSTER_IMAGES.map((name) => {
  const path = `apple_poster.${name}`
  const stored = template?.apple_poster?.[name] ?? ''
  // A fault of the poster as a whole is shown at its first image.
  const issue = fault(path) ?? (name === 'artwork' ? fault('apple_poster') : undefined)
  return writeImage({ name, path, value: poster[name], stored, fault: issue })
})}
</fieldset>`
}

/** Writes the images by language. A hidden field names the stored language of a row, whose images the browser does not resend. */
function writeLocalImages(
  { images }: TemplateDraft,
  template: TemplateObject | undefined,
  fault: FaultOf,
): Html {
  return html`<fieldset><legend>Images by language</legend>
<p class="hint">Phones with Apple Wallet show these images in the language of the holder, and those of the brand in all other languages.</p>
${images.map(({ language, was, ...each }, index) => {
  const row = `images[${index}]`
  return writeRow(
    `Language ${index + 1}`,
    [
      html`<input type="hidden" name="${row}.was" value="${was}">`,
      field({
        name: `${row}.language`,
        label: 'Language',
        value: language,
        hint: 'For example, de or pt-BR.',
        fault: fault(`images.${language}`) ?? (index === 0 ? fault('images') : undefined),
      }),
      ...LOCAL_IMAGES.map((name) =>
        writeImage({
          name,
          path: `${row}.${name}`,
          value: each[name],
          stored: template?.images?.[was]?.[name] ?? '',
          fault: fault(`images.${language}.${name}`),
        }),
      ),
    ],
    'images',
    index,
    images.length,
  )
})}
${images.length < MAX_LANGUAGES && addButton('images', 'Add language')}
</fieldset>`
}

type List = 'fields' | 'relevant_locations' | 'images'

function writeRow(name: string, controls: readonly Html[], list: List, index: number, rows: number): Html {
  const button = (verb: string, text: string) =>
    html`<button class="second small" type="submit" name="do" value="${verb}-${list}-${String(index)}" aria-label="${text}: ${name}" formnovalidate>${text}</button> `
  return html`<div class="row" role="group" aria-label="${name}"><div class="columns">${controls}</div>
<p><span class="handle" draggable="true" aria-hidden="true" hidden>${icon('grip-vertical')}</span>${index > 0 && button('up', 'Move up')}${index < rows - 1 && button('down', 'Move down')}${button('remove', 'Remove')}</p></div>`
}

function addButton(list: List, text: string): Html {
  return html`<p><button class="second small" type="submit" name="do" value="add-${list}" formnovalidate>${text}</button></p>`
}
