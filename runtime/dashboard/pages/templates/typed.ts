/** Reads the submitted template form. */
import type { Request } from 'express'
import { PASS_KINDS, type PassKind } from '../../../passes/wallets/render/pass-state.ts'
import { formField } from '../../html/forms.ts'
import { uploadedFile } from '../../html/uploads.ts'
import { type DraftLocation, IMAGES, type TemplateDraft, type TemplateImage } from './draft.ts'
import { readOptionTexts } from './options.ts'

export const MAX_FIELDS = 20
export const MAX_LOCATIONS = 10

/** Returns the submitted draft. @param before used for values that the form does not contain. */
export function readDraft(request: Request, before: TemplateDraft): TemplateDraft {
  const text = (name: string) => formField(request, name).replaceAll('\r\n', '\n')
  const line = (name: string) => text(name).trim()
  const rows = <Name extends string>(list: string, names: readonly Name[], most: number) =>
    Array.from({ length: most }, (_, index) =>
      Object.fromEntries(names.map((name) => [name, line(`${list}[${index}].${name}`)] as const)),
    ).filter((row) => Object.values(row).some((value) => value !== '')) as Record<Name, string>[]
  const image = (name: TemplateImage) => readImage(request, name, before.brand[name])
  const kind = line('kind')
  return {
    name: line('name'),
    kind: PASS_KINDS.includes(kind as PassKind) ? (kind as PassKind) : before.kind,
    brand: {
      background_color: line('brand.background_color'),
      foreground_color: line('brand.foreground_color'),
      label_color: line('brand.label_color'),
      logo_text: line('brand.logo_text'),
      ...(Object.fromEntries(IMAGES.map((name) => [name, image(name)])) as Record<TemplateImage, string>),
    },
    fields: rows('fields', ['key', 'label', 'value', 'change_message', 'translations'], MAX_FIELDS),
    barcode: { format: line('barcode.format') || before.barcode.format, message: text('barcode.message') },
    relevant_locations: rows(
      'relevant_locations',
      ['latitude', 'longitude', 'altitude', 'relevant_text', 'translations'],
      MAX_LOCATIONS,
    ) satisfies DraftLocation[],
    options: readOptionTexts(line),
    language: line('language'),
    translations: line('translations'),
    semantics: text('semantics'),
    metadata: text('metadata'),
  }
}

/** Returns the new file, nothing if the image was removed, the file of an earlier submit, or the stored image. */
function readImage(request: Request, name: TemplateImage, before: string): string {
  const file = uploadedFile(request, `${name}_file`)
  if (file) return file.bytes.toString('base64')
  if (formField(request, `${name}_remove`) !== '') return ''
  return formField(request, `brand.${name}`) || before
}

/** Applies a button that adds, removes, or moves a row. Returns undefined for other buttons. */
export function changeRows(draft: TemplateDraft, button: string): TemplateDraft | undefined {
  const [, verb, list, at = '-1'] =
    /^(add|remove|up|down)-(fields|relevant_locations)(?:-(\d{1,2}))?$/.exec(button) ?? []
  if (!verb || !list) return undefined
  const index = Number(at)
  if (list === 'fields')
    return {
      ...draft,
      fields: moved(draft.fields, verb, index, {
        key: '',
        label: '',
        value: '',
        change_message: '',
        translations: '',
      }),
    }
  const place = { latitude: '', longitude: '', altitude: '', relevant_text: '', translations: '' }
  return { ...draft, relevant_locations: moved(draft.relevant_locations, verb, index, place) }
}

function moved<Row>(rows: readonly Row[], verb: string, index: number, empty: Row): readonly Row[] {
  if (verb === 'add') return [...rows, empty]
  if (verb === 'remove') return rows.toSpliced(index, 1)
  const upper = verb === 'up' ? index - 1 : index
  const [one, other] = [rows[upper], rows[upper + 1]]
  return one && other ? rows.toSpliced(upper, 2, other, one) : rows
}
