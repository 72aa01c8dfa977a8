/** Prints a request as a Python program that uses `requests`. */
import { essenceOf } from '../../ir/media-type.ts'
import type { ApiOperation } from '../../ir/model.ts'
import { joinGiven } from './given.ts'
import { type LiteralSyntax, printLiteral } from './literal.ts'
import type { ReferencePage } from './page.ts'
import { formFields, type SampleBody, sampleRequest, sentHeaders } from './request.ts'

export function pythonOf(page: ReferencePage, operation: ApiOperation): string {
  const request = sampleRequest(page, operation)
  const { url, body } = request
  const headers = Object.entries(sentHeaders(page, request))
    .filter(([name]) => name !== 'Content-Type' || !isImplied(body))
    .map(([name, value]) => `    ${quote(name)}: ${quote(value)},`)
  const code = [
    'import requests',
    '',
    ...(headers.length > 0 ? ['headers = {', ...headers, '}'] : []),
    ...(body ? [bodyOf(body)] : []),
    'answer = requests.request(',
    `    ${quote(operation.method)},`,
    `    ${quote(url)},`,
    ...(headers.length > 0 ? ['    headers=headers,'] : []),
    ...(body ? [`    ${body.kind === 'json' ? 'json' : 'data'}=body,`] : []),
    '    timeout=30,',
    ')',
    'answer.raise_for_status()',
    page.keep === undefined ? 'print(answer.text)' : `print(answer.json()["id"])  # ${page.keep}`,
  ].join('\n')
  const modules = [
    ...(code.includes('os.environ[') ? ['os'] : []),
    ...(code.includes('uuid.uuid4()') ? ['uuid'] : []),
  ]
  return [...modules.map((name) => `import ${name}`), ...(modules.length > 0 ? [''] : []), code].join('\n')
}

/** Whether `requests` sends the media type by itself. */
const isImplied = (body: SampleBody | undefined): boolean =>
  body?.kind === 'form' || (body?.kind === 'json' && essenceOf(body.mediaType) === 'application/json')

function bodyOf({ kind, value }: SampleBody): string {
  if (kind === 'bytes') return 'body = open("FILE", "rb")'
  return `body = ${printLiteral(kind === 'json' ? value : formFields(value), SYNTAX)}`
}

/** Python reads the escapes of JSON strings. */
const quote = (text: string): string =>
  joinGiven(JSON.stringify(text.toWellFormed()), (name) =>
    name === undefined ? 'str(uuid.uuid4())' : `os.environ[${JSON.stringify(name)}]`,
  )

const SYNTAX: LiteralSyntax = {
  indent: '    ',
  nothing: 'None',
  true: 'True',
  false: 'False',
  list: ['[', ']'],
  map: ['{', '}'],
  emptyMap: '{}',
  arrow: ': ',
  quote,
}
