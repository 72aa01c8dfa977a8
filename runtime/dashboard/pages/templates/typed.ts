/** Reads the submitted template form. */
import type { Request } from 'express'
import { PASS_KINDS, type PassKind } from '../../../passes/wallets/render/pass-state.ts'
import { formField } from '../../html/forms.ts'
import {
  type DraftImages,
  type DraftLocation,
  IMAGES,
  LOCAL_IMAGES,
  POSTER_IMAGES,
  type TemplateDraft,
} from './draft.ts'
import { readImage } from './image-inputs.ts'
import { readOptionTexts } from './options.ts'

export const MAX_FIELDS = 20
export const MAX_LOCATIONS = 10
export const MAX_LANGUAGES = 10

/** Returns the submitted draft. @param before used for values that the form does not contain. */
export function readDraft(request: Request, before: TemplateDraft): TemplateDraft {
  const text = (name: string) => formField(request, name).replaceAll('\r\n', '\n')
  const line = (name: string) => text(name).trim()
  const rows = <Name extends string>(list: string, names: readonly Name[], most: number) =>
    Array.from({ length: most }, (_, index) =>
      Object.fromEntries(names.map((name) => [name, line(`${list}[${index}].${name}`)] as const)),
    ).filter((row) => Object.values(row).some((value) => value !== '')) as Record<Name, string>[]
  const kind = line('kind')
  return {
    name: line('name'),
    kind: PASS_KINDS.includes(kind as PassKind) ? (kind as PassKind) : before.kind,
    brand: {
      background_color: line('brand.background_color'),
      foreground_color: line('brand.foreground_color'),
      label_color: line('brand.label_color'),
      logo_text: line('brand.logo_text'),
      ...each(IMAGES, (name) => readImage(request, `brand.${name}`, before.brand[name])),
    },
    poster: each(POSTER_IMAGES, (name) => readImage(request, `apple_poster.${name}`, before.poster[name])),
    images: readLocalImages(request, before.images),
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

function each<Name extends string>(
  names: readonly Name[],
  read: (name: Name) => string,
): Record<Name, string> {
  return Object.fromEntries(names.map((name) => [name, read(name)])) as Record<Name, string>
}

/** Returns the rows of the form. A row without a language and without images is no row. */
function readLocalImages(request: Request, before: readonly DraftImages[]): DraftImages[] {
  const rows = Array.from({ length: MAX_LANGUAGES }, (_, index) => {
    const [language, was] = ['language', 'was'].map((name) =>
      formField(request, `images[${index}].${name}`).trim(),
    )
    const stored = before.find((row) => row.was !== '' && row.was === was)
    const images = each(LOCAL_IMAGES, (name) =>
      readImage(request, `images[${index}].${name}`, stored?.[name] ?? ''),
    )
    return { language: language ?? '', was: was ?? '', ...images }
  })
  return rows.filter((row) => Object.values(row).some((value) => value !== ''))
}

/** Applies a button that adds, removes, or moves a row. Returns undefined for other buttons. */
export function changeRows(draft: TemplateDraft, button: string): TemplateDraft | undefined {
  const [, verb, list, at = '-1'] =
    /^(add|remove|up|down)-(fields|relevant_locations|images)(?:-(\d{1,2}))?$/.exec(button) ?? []
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
  if (list === 'images')
    return {
      ...draft,
      images: moved(draft.images, verb, index, { language: '', was: '', logo: '', strip: '' }),
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
