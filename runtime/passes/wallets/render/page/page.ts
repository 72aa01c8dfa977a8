/** The page of a pass: what its holder sees at its address. It works without scripts and asks for nothing else. */
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
import { stateWords } from './words.ts'

export interface PageFacts {
  /** Of the state's barcode; undefined where its format cannot hold its message. */
  readonly barcode: DrawnBarcode | undefined
  readonly device: Device
  /** Where the pass is saved to Google Wallet. */
  readonly googleUrl: string
  /** Whether it is of the sandbox. */
  readonly isTest: boolean
}

export interface PassPage {
  readonly html: string
  /** Lets the page's own style and its pictures through, and nothing else. */
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
${facts.isTest && html`<footer class="foot">Test pass, issued in the sandbox. It is worth nothing.</footer>`}
</main>`,
  )
}

/** Of every address that is no pass's. */
export function writeMissingPage(): PassPage {
  return writePage(
    'No pass here',
    '',
    undefined,
    html`<main class="missing"><h1>No pass here</h1>
<p>There is no pass at this address. Check that the link is complete, or ask whoever sent it to you for a new one.</p></main>`,
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
    contentSecurityPolicy: `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  }
}
