/** Shows the request of a form as a curl command and as a call of the TypeScript client. */
import client from '../../../generated/client/package.json' with { type: 'json' }
import { current } from '../../../generated/versions.ts'
import { findOperation, type OperationId } from '../../api/operate.ts'
import { type Html, html } from '../../platform/html.ts'
import { changeButton } from '../html/controls.ts'

/** The value of the button that shows the call for the current values of a form. */
export const CALL = 'call'

export interface ShownCall {
  readonly operation: OperationId
  readonly path: Readonly<Record<string, string>>
  readonly body: unknown
}

/**
 * Writes the calls below a form. `form.js` keeps them up to date while a member types.
 *
 * @param apiUrl base URL of the API.
 * @param form ID of the form. Absent if the form has a button of its own that updates the calls.
 */
export function writeCalls(calls: readonly ShownCall[], apiUrl: string, form?: string, isOpen = false): Html {
  return html`<details class="call"${isOpen && html` open`}><summary>Show as API call</summary>
<div class="calls"><h2>curl</h2>
<pre tabindex="0">${calls.map((call) => writeCurl(call, apiUrl)).join('\n\n')}</pre>
<h2>TypeScript</h2>
<pre tabindex="0">${writeTypeScript(calls, apiUrl)}</pre></div>
${form !== undefined && html`<noscript>${changeButton(CALL, 'Update with the values of the form', undefined, form)}</noscript>`}
</details>`
}

function writeCurl({ operation, path, body }: ShownCall, apiUrl: string): string {
  const { method, path: template } = findOperation(operation)
  const filled = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => path[name] ?? '')
  return [
    `curl -X ${method} ${quoteShell(apiUrl + filled)}`,
    '-H "Authorization: Bearer $SVC_API_KEY"',
    `-H 'Service-Version: ${current}'`,
    ...(method === 'POST' ? ['-H "Idempotency-Key: $(uuidgen)"'] : []),
    ...(body === undefined ? [] : [`--json ${quoteShell(JSON.stringify(body, null, 2))}`]),
  ].join(' \\\n  ')
}

const quoteShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function writeTypeScript(calls: readonly ShownCall[], apiUrl: string): string {
  const written = calls.map(({ operation, path, body }) => {
    const input = { ...(Object.keys(path).length > 0 && { path }), ...(body !== undefined && { body }) }
    return `await client.${operation}(${Object.keys(input).length > 0 ? writeValue(input) : ''})`
  })
  return [
    `import { createClient } from '${client.name}/${current}'`,
    '',
    `const client = createClient({ baseUrl: ${writeValue(apiUrl)}, apiKey: process.env.SVC_API_KEY! })`,
    ...written,
  ].join('\n')
}

/** Writes JSON as a TypeScript expression. */
function writeValue(value: unknown, indent = ''): string {
  const inner = `${indent}  `
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
  if (Array.isArray(value)) {
    const items = value.map((each) => writeValue(each, inner))
    return items.every((each) => !each.includes('\n'))
      ? `[${items.join(', ')}]`
      : `[\n${items.map((each) => `${inner}${each},\n`).join('')}${indent}]`
  }
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value).filter(([, each]) => each !== undefined)
  if (members.length === 0) return '{}'
  const name = (key: string) => (/^[A-Za-z_]\w*$/.test(key) ? key : writeValue(key))
  return `{\n${members.map(([key, each]) => `${inner}${name(key)}: ${writeValue(each, inner)},\n`).join('')}${indent}}`
}
