/** File inputs for the images of a template: of its brand, of the poster layout, and by language. */
import type { Request } from 'express'
import { IMAGE_RULES } from '../../../passes/templates/rules.ts'
import { png } from '../../../passes/wallets/render/page/front.ts'
import { type Html, html } from '../../../platform/html.ts'
import { formField } from '../../html/forms.ts'
import { uploadedFile } from '../../html/uploads.ts'

export type ImageName = keyof typeof IMAGE_RULES

interface ImageSlot {
  readonly label: string
  readonly hint: string
  /** Shapes to crop to, in pixels. */
  readonly shapes: readonly (readonly [text: string, width: number, height: number])[]
}

const { icon: square, logo, strip, artwork, secondary_logo: second } = IMAGE_RULES

const SLOTS: Readonly<Record<ImageName, ImageSlot>> = {
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
  artwork: {
    label: 'Artwork',
    hint: 'Fills the pass.',
    shapes: [['Poster', artwork.width, artwork.height]],
  },
  secondary_logo: {
    label: 'Second logo',
    hint: 'At the bottom of an event ticket.',
    shapes: [['Wide', second.width, second.height]],
  },
}

function sizeHint(name: ImageName): string {
  const { width, height, bytes } = IMAGE_RULES[name]
  return `PNG, up to ${width} × ${height} pixels and ${bytes / 1024} KB.`
}

export interface ImageInput {
  readonly name: ImageName
  /** Path of the image in the draft, such as `brand.logo`. */
  readonly path: string
  /** Base64, or an empty text. */
  readonly value: string
  /** The stored image, in the same form. */
  readonly stored: string
  readonly fault: string | undefined
  /** If absent, it is that of the slot. */
  readonly label?: string
}

/** Browsers do not resend a file, so an image that is not stored yet is carried in a hidden field. */
export function writeImage({ name, path, value, stored, fault: issue, label }: ImageInput): Html {
  const { hint, shapes, label: own } = SLOTS[name]
  const title = label ?? own
  const id = fileOf(path)
  const { bytes } = IMAGE_RULES[name]
  const isLarge = Buffer.byteLength(value, 'base64') > bytes
  const fault =
    issue &&
    (isLarge ? `The picture is larger than ${bytes / 1024} KB.` : issue.replace(/^Is /, 'The picture is '))
  return html`<div class="field picture" data-picture="${title}" data-shapes="${JSON.stringify(shapes)}" data-bytes="${String(bytes)}"><label for="${id}">${title}</label>
${value !== '' && html`<p class="chosen"><img src="${png(value)}" alt="${title}, selected image"> <label><input type="checkbox" name="${removalOf(path)}" value="yes"> Remove</label></p>`}
<input id="${id}" name="${id}" type="file" accept="image/png" aria-describedby="${fault !== undefined && `${id}-fault `}${id}-hint"${fault !== undefined && html` aria-invalid="true"`}>
${value !== stored && html`<input type="hidden" name="${path}" value="${value}">`}
${fault !== undefined && html`<p class="fault" id="${id}-fault">${fault}</p>`}<p class="hint" id="${id}-hint">${hint} ${sizeHint(name)}</p></div>`
}

/** Returns the new file, nothing if the image was removed, the file of an earlier submit, or the stored image. */
export function readImage(request: Request, path: string, stored: string): string {
  const file = uploadedFile(request, fileOf(path))
  if (file) return file.bytes.toString('base64')
  if (formField(request, removalOf(path)) !== '') return ''
  return formField(request, path) || stored
}

const idOf = (path: string) => path.replace(/^brand\./, '').replaceAll(/[^a-z0-9_]+/g, '_')
const fileOf = (path: string) => `${idOf(path)}_file`
const removalOf = (path: string) => `${idOf(path)}_remove`
