/** Writes the report about a version's sunset as one HTML page, for operators to share. It contains no script and loads nothing. */
import { type Html, html, trusted } from '../platform/html.ts'
import type { VersionBlocker, VersionBlockers } from './version-blockers.ts'

const STYLE = trusted(
  '<style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}table{border-collapse:collapse;width:100%}th,td{border-bottom:1px solid #ccc;padding:.3rem .6rem;text-align:left;vertical-align:top}</style>',
)

const counted = (count: number, thing: string) => `${count} ${thing}${count === 1 ? '' : 's'}`

/** Returns the page. */
export function writeBlockersPage({ version, sunset, upgrade_to, blockers }: VersionBlockers): string {
  const title = `Who blocks the sunset of ${version}`
  const page = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
${STYLE}
<h1>${title}</h1>
<p>Sunset date: ${sunset ?? 'none'}. ${counted(new Set(blockers.map(({ tenant_id }) => tenant_id)).size, 'tenant')} must upgrade to ${upgrade_to}.</p>
${blockers.map(writeBlocker)}
</html>`
  return page.text
}

function writeBlocker({ tenant_id, name, environment, pinned, keys, changes }: VersionBlocker): Html {
  return html`<section><h2>${name}, ${environment}</h2>
<p>${tenant_id}. ${pinned ? 'Pinned to this version.' : 'Names this version in a header.'} ${keys.length === 0 && 'No recent requests.'}</p>
${
  keys.length > 0 &&
  html`<table><thead><tr><th scope="col">Key</th><th scope="col">Requests</th><th scope="col">Last request</th><th scope="col">Operations</th><th scope="col">An upgrade changes</th></tr></thead>
<tbody>${keys.map(
    (key) => html`<tr><td>${key.key_id}</td><td>${String(key.requests)}</td><td>${key.last_at}</td>
<td>${Object.entries(key.operations).map(([operation, requests]) => html`${operation}: ${String(requests)}<br>`)}</td>
<td>${key.findings.map(({ kind, operation, field, detail, exchanges }) => html`${kind}: ${operation} ${field} ${detail} (${String(exchanges)})<br>`)}</td></tr>`,
  )}</tbody></table>`
}
${
  changes.length > 0 &&
  html`<p>Changes that altered its requests in the last 30 days: ${changes.map(({ change, requests }) => `${change} (${requests})`).join(', ')}.</p>`
}</section>
`
}
