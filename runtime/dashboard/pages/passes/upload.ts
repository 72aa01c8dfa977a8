/** Issues passes from a CSV file and reports the result of each row. */
import { randomUUID } from 'node:crypto'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { code, orDash, state } from '../../engine/values.ts'
import { ApiRefused, type DashboardVisit, roleFor } from '../../engine/visit.ts'
import { notice, textArea } from '../../html/components.ts'
import { formField } from '../../html/forms.ts'
import { pageHeaders } from '../../html/layout.ts'
import { uploadedFile } from '../../html/uploads.ts'
import type { TemplateObject } from '../templates/draft.ts'
import {
  type BatchReport,
  columnsOf,
  ERROR_COLUMN,
  issueTable,
  MAX_ROWS,
  type PassTable,
  type RowOutcome,
  readTable,
} from './batch.ts'
import { writeCsv } from './csv.ts'
import { pickedTemplate, showChoice } from './issue.ts'

const PATH = 'passes'
export const UPLOAD_TITLE = 'Issue passes from a file'
const DOWNLOAD = 'download'

/** Room for the table twice: as a file and as text. */
const MAX_BYTES = 1024 * 1024

export function uploadRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment): DashboardRoute[] => {
    const path = `/${environment}/${PATH}/upload`
    const common = { environment, path, needs: roleFor('createPassBatch') }
    return [
      {
        ...common,
        method: 'GET',
        handle: async (visit) => {
          const id = pickedTemplate(visit)
          if (id === '') return showChoice(visit, send, UPLOAD_TITLE)
          const template = await readTemplate(visit, id)
          show(visit, send, 200, writeForm(visit, template, { text: '' }))
        },
      },
      { ...common, method: 'POST', maxBytes: MAX_BYTES, handle: (visit) => upload(visit, send) },
    ]
  })
}

function readTemplate(visit: DashboardVisit, template_id: string): Promise<TemplateObject> {
  return visit.read<TemplateObject>('getPassTemplate', { path: { template_id } })
}

function show(visit: DashboardVisit, send: SendFramed, status: number, content: Html): void {
  send(visit, status, { title: UPLOAD_TITLE, path: PATH, content })
}

async function upload(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const { request } = visit
  const id = formField(request, 'template_id')
  if (id === '') throw new ApiRefused(422, 'The form does not contain a template. Select a template first.')
  const template = await readTemplate(visit, id)
  if (formField(request, 'do') === DOWNLOAD) return sendTable(visit)
  const text = readText(visit)
  const round = formField(request, 'round')
  const table =
    text === undefined ? 'The file is not UTF-8 text. Save it as “CSV UTF-8”.' : readTable(text, template)
  if (typeof table === 'string')
    return show(visit, send, 422, writeForm(visit, template, { text: text ?? '', fault: table, round }))
  const report = await issueTable(visit, template.id, table, round)
  show(visit, send, 200, writeReport(visit, template, text ?? '', table, report, round))
}

/** Sends the table of the form as a file. */
function sendTable({ request, response }: DashboardVisit): void {
  response
    .set(pageHeaders())
    .attachment('passes.csv')
    .send(formField(request, 'table').replaceAll('\r\n', '\n'))
}

/** Returns the file, or else the typed text. Undefined if the file is not UTF-8. */
function readText({ request }: DashboardVisit): string | undefined {
  const file = uploadedFile(request, 'file')
  if (!file) return formField(request, 'table')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file.bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

interface Typed {
  readonly text: string
  readonly fault?: string
  /** Set for rows that are deliberately submitted again. */
  readonly round?: string
}

function formAround(visit: DashboardVisit, { id }: TemplateObject, round: string, content: Html): Html {
  const address = `/${visit.environment}/${PATH}/upload`
  return html`<form method="post" action="${address}" enctype="multipart/form-data">
${visit.guard(address)}<input type="hidden" name="template_id" value="${id}"><input type="hidden" name="round" value="${round}">
${content}
</form>`
}

function writeForm(
  visit: DashboardVisit,
  template: TemplateObject,
  { text, fault, round = '' }: Typed,
): Html {
  const values = new Map(template.fields.map(({ key, value }) => [key, value]))
  const columns = writeTable(
    'Columns',
    [
      { title: 'Column', show: ([column]) => code(column) },
      { title: 'Sets', show: ([, label]) => label },
      { title: 'If empty', show: ([column]) => orDash(values.get(column)) },
    ],
    columnsOf(template),
    linkIn(visit),
  )
  const sample = writeCsv([columnsOf(template).map(([column]) => column)])
  return html`${fault !== undefined && notice('bad', fault)}
<p class="quiet">Template: ${linkIn(visit)(`pass-templates/${template.id}`, template.name)}. Each line after the column names is one pass, up to ${String(MAX_ROWS)}. If you submit the same table again within 24 hours, no pass is issued twice.</p>
${formAround(
  visit,
  template,
  round,
  html`<div class="field drop"><label for="file">File</label>
<input id="file" name="file" type="file" accept=".csv,text/csv" aria-describedby="file-hint"><p class="hint" id="file-hint">Drop or choose a CSV file, as exported by a spreadsheet.</p></div>
<details${text !== '' && html` open`}><summary>Paste a table</summary>
${textArea({ name: 'table', label: 'Table', optional: true, rows: 8, value: text })}</details>
<div class="actions"><button type="submit">Issue passes</button> <a class="button second" href="/${visit.environment}/${PATH}">Back</a></div>`,
)}
<h2>Columns</h2>
<p class="quiet">Name the columns by these names or by what they set, in any order. Leave out the columns that you do not need.</p>
${columns}
${writeDownload(visit, template, sample, 'Download empty table')}`
}

/** Writes a button that downloads a table. */
function writeDownload(visit: DashboardVisit, template: TemplateObject, csv: string, button: string): Html {
  const table = html`<textarea name="table" hidden>\n${csv}</textarea>
<p><button class="second" type="submit" name="do" value="${DOWNLOAD}">${button}</button></p>`
  return formAround(visit, template, '', table)
}

function writeReport(
  visit: DashboardVisit,
  template: TemplateObject,
  text: string,
  table: PassTable,
  { outcomes, stopped }: BatchReport,
  round: string,
): Html {
  const failed = outcomes.filter(({ fault }) => fault !== undefined)
  const issued = outcomes.filter(({ passId }) => passId !== undefined)
  const words = `${issued.length} of ${outcomes.length} passes were issued${failed.length > 0 ? `, ${failed.length} failed` : ''}.`
  const goOn = html`${notice('warn', `${words} Processing stopped: ${stopped ?? ''}`)}
${formAround(
  visit,
  template,
  round,
  html`<textarea name="table" hidden>\n${text}</textarea><div class="actions"><button type="submit">Continue issuing</button></div>`,
)}`
  const withErrors = [
    [...table.header, ERROR_COLUMN],
    ...failed.map(({ row, fault }) => [...row.cells, ...padding(table, row), fault ?? '']),
  ]
  const again = html`<h2>Failed rows</h2>
<p>Correct the lines here and submit only them, or download them, correct the file, and upload it.</p>
${formAround(
  visit,
  template,
  randomUUID(),
  html`${textArea({ name: 'table', label: 'Corrected lines', rows: 8, value: writeCsv([table.header, ...failed.map(({ row }) => row.cells)]) })}
<div class="actions"><button type="submit">Issue corrected passes</button></div>`,
)}
${writeDownload(visit, template, writeCsv(withErrors), 'Download failed rows')}`
  return html`${stopped === undefined ? notice(failed.length > 0 ? 'warn' : 'good', words) : goOn}
${writeOutcomes(visit, table, outcomes)}
${stopped === undefined && failed.length > 0 && again}
<p>${linkIn(visit)(`passes?template_id=${template.id}`, 'View passes of this template')}</p>`
}

/** Returns the missing cells of a short row. */
function padding({ header }: PassTable, { cells }: RowOutcome['row']): string[] {
  return Array<string>(Math.max(header.length - cells.length, 0)).fill('')
}

function writeOutcomes(visit: DashboardVisit, { columns }: PassTable, outcomes: readonly RowOutcome[]): Html {
  const who = ({ cells }: RowOutcome['row']) =>
    ['name', 'email']
      .map((name) => cells[columns.indexOf(name)] ?? '')
      .filter(Boolean)
      .join(', ')
  return writeTable(
    'Rows',
    [
      { title: 'Line', show: ({ row }: RowOutcome) => String(row.line) },
      { title: 'Holder', show: ({ row }) => who(row) || '–' },
      {
        title: 'Status',
        show: ({ passId, fault }) => state(passId ? 'issued' : fault ? 'failed' : 'pending'),
      },
      {
        title: 'Result',
        show: ({ passId, fault }, link) => (passId ? link.to(passId) : (fault ?? 'Not processed yet')),
      },
    ],
    outcomes,
    linkIn(visit),
  )
}
