/** The holder page of a pass. It needs no scripts and loads no other resources. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Html, html, trusted } from '../../../../platform/html.ts'
import { languageOf, passIn } from '../languages.ts'
import { isVoid, type PassState } from '../pass-state.ts'
import { showBack } from './back.ts'
import type { DrawnBarcode } from './barcode.ts'
import { type Device, showButtons } from './buttons.ts'
import { showLargeCode } from './code.ts'
import { brandColors } from './colors.ts'
import { png, showFront } from './front.ts'
import { showMessages } from './messages.ts'
import { createVoice, directionOf, textLanguageOf, type Voice } from './voice.ts'
import { stateWords } from './words.ts'

export interface PageFacts {
  /** The drawn barcode; undefined if its format cannot hold the message. */
  readonly barcode: DrawnBarcode | undefined
  readonly device: Device
  /** Languages that the holder reads, the preferred one first. The language of the pass follows. */
  readonly wanted: readonly string[]
  /** Save link for Google Wallet. */
  readonly googleUrl: string
  /** Whether the pass is in the sandbox. */
  readonly isTest: boolean
}

export interface PassPage {
  readonly html: string
  /** Allows only the page's own style and its inline images. */
  readonly contentSecurityPolicy: string
}

const STYLE = ['pass.css', 'page.css']
  .map((name) => readFileSync(new URL(name, import.meta.url), 'utf8'))
  .join('\n')

export function writePassPage(pass: PassState, facts: PageFacts): PassPage {
  const language = textLanguageOf(pass, facts.wanted)
  const voice = createVoice(facts.wanted, languageOf(pass))
  const state = passIn(pass, language)
  const { name, organization } = state
  const words = stateWords(state, voice)
  const spoken = html`lang="${language}" dir="${directionOf(language)}"`
  return writePage(
    voice,
    `${name} – ${organization}`,
    `:root{${brandColors(state.brand)}}`,
    state.brand.icon,
    html`<main class="holder">
<header class="head"><p class="issuer" dir="auto">${organization}</p><h1 lang="${language}" dir="auto">${name}</h1>
${words && html`<p class="notice" role="status"><strong>${words.title}.</strong> ${words.text}</p>`}</header>
<fieldset class="sides"><legend>${voice.say('sides')}</legend>
<input type="radio" name="side" id="side-front" checked><label for="side-front">${voice.say('front')}</label>
<input type="radio" name="side" id="side-back"><label for="side-back">${voice.say('back')}</label></fieldset>
<div class="card">${showFront(state, facts.barcode, voice, spoken)}
${showLargeCode(state, facts.barcode, voice)}</div>
${!isVoid(state) && showButtons(facts.device, { apple: `${state.pageUrl}.pkpass`, google: facts.googleUrl }, voice)}
${showBack(state, voice, spoken)}
${showMessages(state, voice)}
${facts.isTest && html`<footer class="foot">${voice.say('test')}</footer>`}
</main>`,
  )
}

/** Returns the page for unknown addresses. @param wanted languages, the preferred one first. */
export function writeMissingPage(wanted: readonly string[]): PassPage {
  const voice = createVoice(wanted)
  return writePage(
    voice,
    voice.say('missing'),
    '',
    undefined,
    html`<main class="missing"><h1>${voice.say('missing')}</h1>
<p>${voice.say('missingText')}</p></main>`,
  )
}

function writePage(
  { language }: Voice,
  title: string,
  brand: string,
  icon: string | undefined,
  content: Html,
): PassPage {
  const style = `${brand}\n${STYLE}`
  const page = html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow, noarchive">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<title>${title}</title>
<link rel="icon" href="${icon === undefined ? 'data:,' : png(icon)}">
<style>${trusted(style)}</style>
</head>
<body>
${content}
</body>
</html>
`
  const hash = createHash('sha256').update(style).digest('base64')
  return {
    html: page.text,
    contentSecurityPolicy: `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  }
}
