/** Previews a pass of a template in the layouts of both wallets. */

import { mergePatch } from '../../../api/json/merge-patch.ts'
import { shownFields, type TemplateField } from '../../../passes/templates/fields.ts'
import { type WalletWarning, warningsOf } from '../../../passes/templates/warnings.ts'
import { barcodeIssue } from '../../../passes/wallets/render/barcode.ts'
import { passIn } from '../../../passes/wallets/render/languages.ts'
import { contrast } from '../../../passes/wallets/render/page/colors.ts'
import { showFront } from '../../../passes/wallets/render/page/front.ts'
import type {
  BarcodeFormat,
  PassBrand,
  PassOptions,
  PassState,
} from '../../../passes/wallets/render/pass-state.ts'
import { createPassTokens, SEPARATOR } from '../../../passes/wallets/render/pass-tokens.ts'
import { type Html, html, trusted } from '../../../platform/html.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { assetPath } from '../../html/assets.ts'
import { notice } from '../../html/components.ts'
import { BARCODE_FORMATS, type DraftField, NEW, nest, type TemplateDraft } from './draft.ts'
import { showGoogleCard } from './google-card.ts'
import { readLines, readTranslations } from './lines.ts'
import { optionValues } from './options.ts'
import { showPoster } from './poster.ts'

const COLOR = /^#[0-9a-f]{6}$/i
const COLOR_NAMES = ['background_color', 'foreground_color', 'label_color'] as const

/** What differs for each pass of a template. */
export type PassContent = Pick<PassState, 'status' | 'holder' | 'expiresAt'> & {
  /** Values by field key. The values of the template apply to missing keys. */
  readonly values: Readonly<Record<string, string>>
  /** The barcode message, if the template has none. */
  readonly scanCode: string
  /** Language of the holder. Absent for the language of the template. */
  readonly language?: string
}

/** What previews show of a pass that does not exist. */
export const SAMPLE: PassContent = {
  status: 'active',
  holder: { name: 'Alex Example', email: null },
  expiresAt: null,
  values: {},
  scanCode: 'SAMPLE-0001',
}

/** Returns the message of a pass's own barcode. */
export async function scanCodeOf(visit: DashboardVisit, passId: string): Promise<string> {
  const { space } = await visit.place()
  return createPassTokens(visit.operator.pepper, visit.environment).scanCode({ space, passId })
}

/** Writes the preview next to the template form. The page script replaces it when the form changes. */
export async function writePreview(
  visit: DashboardVisit,
  draft: TemplateDraft,
  language: string,
): Promise<Html> {
  return html`<section class="previews" id="preview" aria-labelledby="preview-title" tabindex="0"><h2 class="first" id="preview-title">Preview</h2>
${writeContrasts(draft)}
${writeWarnings(draft)}
${await drawPasses(visit, draft, { ...SAMPLE, language })}
</section>`
}

/** Lists what one of the wallets cannot show. */
export function showWarnings(warnings: readonly Pick<WalletWarning, 'field' | 'message'>[]): Html {
  return html`<ul class="hint">${warnings.map(({ field, message }) => html`<li>${field}: ${message}</li>`)}</ul>`
}

/** Says what one of the wallets cannot show. */
function writeWarnings(draft: TemplateDraft): Html | undefined {
  const warnings = warningsOf(stateOf(draft, '', SAMPLE))
  if (warnings.length === 0) return undefined
  return showWarnings(warnings)
}

/** Smallest contrast of text that is easy to read (WCAG 2.2, 1.4.3). */
const MIN_CONTRAST = 4.5

/** Warns about colors of text that are hard to read on the background. */
function writeContrasts({ brand }: TemplateDraft): Html[] {
  const { background_color, foreground_color, label_color } = readColors((name) => brand[name])
  const pairs = [
    ['text', foreground_color],
    ['labels', label_color],
  ] as const
  return pairs
    .filter(([, color]) => color !== '' && contrast(background_color, color) < MIN_CONTRAST)
    .map(([what, color]) =>
      notice(
        'warn',
        `The color of the ${what} is hard to read on the background: the contrast is ${contrast(background_color, color).toFixed(1)} : 1. Choose colors with at least 4.5 : 1.`,
      ),
    )
}

/** A drawing of each barcode format. */
export type BarcodeSamples = ReadonlyMap<string, Html>

const samples = new Map<string, Html>()

/** Draws a sample of each barcode format. The drawings are kept, because they are always the same. */
export async function drawSamples(visit: DashboardVisit): Promise<BarcodeSamples> {
  for (const [format] of BARCODE_FORMATS) {
    if (samples.has(format)) continue
    const drawn = await visit.draw({ format, message: SAMPLE.scanCode })
    if (drawn) samples.set(format, trusted(drawn.svg.replace('<svg ', '<svg aria-hidden="true" ')))
  }
  return samples
}

/** Draws a pass of the template in both wallets. @param pass absent for a sample. */
export async function drawPasses(
  visit: DashboardVisit,
  draft: TemplateDraft,
  pass: PassContent = SAMPLE,
): Promise<Html> {
  const { tenant } = await visit.read<{ readonly tenant: { readonly name: string } }>('getMe')
  const state = passIn(stateOf(draft, tenant.name, pass), pass.language ?? '')
  const { format, message } = state.barcode
  const rotation = state.options?.rotating_barcode
  const draw = (message: string) =>
    barcodeIssue(format, message) === undefined ? visit.draw({ format, message }) : undefined
  const drawn = await draw(message)
  // A rotating code is a sample also for a pass that exists: scans do not accept it.
  const changing = rotation ? await draw(`${SAMPLE.scanCode}${SEPARATOR}${'1'.repeat(6)}`) : drawn
  const onApple = rotation?.fallback === 'no_code' ? 'no_code' : drawn
  const poster = showPoster(state, onApple === 'no_code' ? undefined : onApple)
  const { background_color, foreground_color, label_color = '' } = state.brand
  const colors = new URLSearchParams({ background_color, foreground_color, label_color })
  const styles = (name: string) => html`<link rel="stylesheet" href="${assetPath(name)}">
<link rel="stylesheet" href="/${visit.environment}/${COLORS_PATH}?${String(colors)}">`
  // Shadow roots isolate the style sheets of passes from the console, because they share class names.
  return html`<div class="wallets" role="group" tabindex="0" aria-label="The pass in both wallets"><figure><figcaption>Apple Wallet</figcaption>
<div class="pass-preview"><template shadowrootmode="open">${styles('pass.css')}${showFront(state, onApple)}</template></div></figure>
${
  poster &&
  html`<figure><figcaption>Apple Wallet, poster</figcaption>
<div class="pass-preview"><template shadowrootmode="open">${styles('poster.css')}${poster}</template></div></figure>`
}
<figure><figcaption>Google Wallet</figcaption>
<div class="pass-preview"><template shadowrootmode="open">${styles('google-card.css')}${showGoogleCard(state, changing)}</template></div></figure></div>
${rotation && html`<p class="hint">Google Wallet and the page of the pass change the barcode every ${String(rotation.period)} seconds. The barcode shown for Google Wallet is a sample.</p>`}
<p class="hint">This preview follows the published layouts of both wallets. Passes can look slightly different on phones.</p>`
}

/** Returns the pass state for the preview. Missing or invalid values of the draft are replaced by defaults. */
function stateOf(
  draft: TemplateDraft,
  organization: string,
  { status, holder, expiresAt, values, scanCode }: PassContent,
): PassState {
  const { kind, fields, barcode } = draft
  const place = { space: '', passId: '' }
  return {
    place,
    templateId: '',
    kind,
    organization,
    name: draft.name || 'Template name',
    status,
    brand: brandOf(draft),
    fields: shownFields(fields.map(fieldOf), values),
    options: {
      ...optionsOf(draft),
      translations: readTranslations(draft.translations),
      images: localImagesOf(draft),
    },
    barcode: { format: barcode.format as BarcodeFormat, message: barcode.message || scanCode },
    locations: [],
    holder,
    expiresAt,
    changed: 0,
    pageUrl: '',
    appleToken: '',
    webServiceUrl: '',
  }
}

function fieldOf({ key, label, value, translations }: DraftField): TemplateField {
  return { key, label, value, translations: readTranslations(translations) }
}

/** Returns the optional content, without parts that are incomplete. */
function optionsOf({ options, semantics, poster }: TemplateDraft): PassOptions {
  const { artwork, secondary_logo } = poster
  const given = {
    ...nest(optionValues(options)),
    semantics: Object.fromEntries(readLines(semantics)),
    apple_poster: artwork === '' ? null : { artwork, secondary_logo: secondary_logo || null },
  }
  return mergePatch({}, given) as PassOptions
}

function localImagesOf({ images }: TemplateDraft): NonNullable<PassOptions['images']> {
  const rows = images.filter(({ language }) => language !== '')
  return Object.fromEntries(
    rows.map(({ language, logo, strip }) => [
      language,
      { ...(logo !== '' && { logo }), ...(strip !== '' && { strip }) },
    ]),
  )
}

function brandOf({ brand }: TemplateDraft): PassBrand {
  const given = Object.entries({ ...brand, ...readColors((name) => brand[name]) })
  return Object.fromEntries(given.filter(([, value]) => value !== '')) as unknown as PassBrand
}

type Colors = Readonly<Record<(typeof COLOR_NAMES)[number], string>>

function readColors(read: (name: (typeof COLOR_NAMES)[number]) => string): Colors {
  return Object.fromEntries(
    COLOR_NAMES.map((name) => [name, COLOR.test(read(name)) ? read(name) : NEW.brand[name]]),
  ) as Colors
}

/** Path below the environment. */
export const COLORS_PATH = 'pass-templates/colors.css'
const A_DAY_SECONDS = 86_400

/** Sends a style sheet with the colors from the query, because the CSP of pages forbids inline styles. */
export function sendColors({ request, response }: DashboardVisit): void {
  const { label_color, ...others } = readColors((name) => {
    const value = request.query[name]
    return typeof value === 'string' ? value : ''
  })
  // Wallets use the colors as they are, even if the text is hard to read.
  const { background_color: brand, foreground_color: value } = others
  const colors = `--brand:${brand};--value:${value};--label:${label_color || value}`
  response.set({
    'Cache-Control': `private, max-age=${A_DAY_SECONDS}`,
    'X-Content-Type-Options': 'nosniff',
  })
  // Google Wallet uses white or black text, whichever has the higher contrast.
  const of = (text: string) => contrast(brand, text)
  const google = of('#ffffff') >= of('#000000') ? '#ffffff' : '#000000'
  response.type('css').send(`:host{${colors};--google-text:${google}}`)
}
