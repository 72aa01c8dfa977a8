import { createHash } from 'node:crypto'
import type { Challenge } from '../platform/factors/factors.ts'

const STYLE = `
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 3rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff }
label { display: block; margin: 1rem 0 0.25rem; font-weight: 600 }
input { font: inherit; width: 100%; box-sizing: border-box; padding: 0.5rem; border: 1px solid #6b6b6b; border-radius: 0.25rem }
button { font: inherit; margin-top: 1.5rem; padding: 0.5rem 1.5rem; border: 0; border-radius: 0.25rem; color: #fff; background: #1e3a5f }
code { overflow-wrap: anywhere; font-size: 1.1rem }
dt { font-weight: 600 } dd { margin: 0 0 0.5rem }
[role=alert] { padding: 0.75rem; border-left: 4px solid #a11; background: #fdecec }
`

/** For the page's Content-Security-Policy. */
export const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!)
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
<main>
<h1>${title}</h1>
${content}
</main>
</html>
`
}

/** In words, as what is yet to be done: `wipeSandbox` is "Wipe sandbox". */
function sayOperation(operationId: string): string {
  const words = operationId.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** What is asked for, and the form. `csrf` goes back with it. */
export function writeForm(challenge: Challenge, csrf: string, fault: string | undefined, email = ''): string {
  const { tenantName, environment, operation, keyHint } = challenge
  return page(
    'Confirm a request',
    `${fault === undefined ? '' : `<p role="alert">${escapeHtml(fault)}</p>`}
<p>A program asks for something that a person has to confirm. Confirm it only if you expect it.</p>
<dl>
<dt>What</dt><dd>${escapeHtml(sayOperation(operation))}</dd>
<dt>Account</dt><dd>${escapeHtml(tenantName)}, ${environment}</dd>
<dt>Asked for by</dt><dd>the key that ends in ${escapeHtml(keyHint)}</dd>
</dl>
<form method="post">
<input type="hidden" name="csrf" value="${escapeHtml(csrf)}">
<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" required value="${escapeHtml(email)}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<label for="code">Code of your authenticator app</label>
<input id="code" name="code" inputmode="numeric" autocomplete="one-time-code" pattern="[0-9 ]*" required>
<button type="submit">Confirm</button>
</form>`,
  )
}

/** The factor, shown this once. */
export function writeFactor(factor: string): string {
  return page(
    'Confirmed',
    `<p>Send the same request again with this header, once, within 10 minutes:</p>
<p><code>Service-Factor: ${escapeHtml(factor)}</code></p>
<p>It is shown this once and is good for this one request.</p>`,
  )
}

export function writeNotice(title: string, text: string): string {
  return page(escapeHtml(title), `<p>${escapeHtml(text)}</p>`)
}
