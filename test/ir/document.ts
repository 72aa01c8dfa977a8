/** Small documents for tests of the toolkit: a text in, its IR and what was complained about out. */
import { createReport, type Diagnostic } from '../../generators/diagnostics/diagnostic.ts'
import { parseText } from '../../generators/document/load.ts'
import { buildApi } from '../../generators/ir/build.ts'
import type { Api } from '../../generators/ir/model.ts'

export const HEAD = `openapi: 3.1.0
info: { title: Test, version: 2030-01-01 }
`

/** @param body YAML that follows the head: `paths:`, `components:` … */
export function read(body: string, head = HEAD): { api: Api; diagnostics: readonly Diagnostic[] } {
  const report = createReport()
  const document = parseText('test.yaml', head + body, report)
  if (!document) throw new Error(report.diagnostics.map((each) => each.message).join('\n'))
  return { api: buildApi(document, report), diagnostics: report.diagnostics }
}

/** The component schema `X` of a document that has only that, written in flow style. */
export function readSchema(schema: string, head = HEAD) {
  const { api, diagnostics } = read(
    `paths: {}\ncomponents: { schemas: { X: ${schema}, Y: { type: object }, Z: { type: object } } }\n`,
    head,
  )
  return { schema: api.schemas.get('X')!, diagnostics }
}
