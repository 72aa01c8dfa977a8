/** The holder page of a pass. It needs no scripts and loads no other resources. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Html, html, trusted } from '../../../../platform/html.ts'
import { isVoid, type PassState } from '../pass-state.ts'
import { showBack } from './back.ts'
import type { DrawnBarcode } from './barcode.ts'
import { type Device, showButtons } from './buttons.ts'
import { showLargeCode } from './code.ts'
import { brandColors } from './colors.ts'
import { png, showFront } from './front.ts'
import { showMessages } from './messages.ts'
import { stateWords } from './words.ts'

export interface PageFacts {
  /** The drawn barcode; undefined if its format cannot hold the message. */
  readonly barcode: DrawnBarcode | undefined
  readonly device: Device
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

export function writePassPage(state: PassState, facts: PageFacts): PassPage {
  const { name, organization } = state
  const words = stateWords(state)
  return writePage(
    `${name} – ${organization}`,
    `:root{${brandColors(state.brand)}}`,
    state.brand.icon,
    html`<main class="holder">
<header class="head"><p class="issuer" dir="auto">${organization}</p><h1 dir="auto">${name}</h1>
${words && html`<p class="notice" role="status"><strong>${words.title}.</strong> ${words.text}</p>`}</header>
<fieldset class="sides"><legend>Side of the pass</legend>
<input type="radio" name="side" id="side-front" checked><label for="side-front">Pass</label>
<input type="radio" name="side" id="side-back"><label for="side-back">Details</label></fieldset>
<div class="card">${showFront(state, facts.barcode)}
${showLargeCode(state, facts.barcode)}</div>
${!isVoid(state) && showButtons(facts.device, { apple: `${state.pageUrl}.pkpass`, google: facts.googleUrl })}
${showBack(state)}
${showMessages(state)}
${facts.isTest && html`<footer class="foot">Test pass from the sandbox. It has no value.</footer>`}
</main>`,
  )
}

/** Returns the page for unknown addresses. */
export function writeMissingPage(): PassPage {
  return writePage(
    'Pass not found',
    '',
    undefined,
    html`<main class="missing"><h1>Pass not found</h1>
<p>This link does not lead to a pass. Check that the link is complete, or ask the sender for a new one.</p></main>`,
  )
}

function writePage(title: string, brand: string, icon: string | undefined, content: Html): PassPage {
  const style = `${brand}\n${STYLE}`
  const page = html`<!doctype html>
<html lang="en">
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
