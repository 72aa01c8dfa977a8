/** Prints a request as a Python program that uses `requests`. */
import type { ApiOperation } from '../../ir/model.ts'
import { joinGiven } from './given.ts'
import type { ReferencePage } from './page.ts'
import { type SampleBody, sampleRequest, show } from './request.ts'

const WIDTH = 72

export function pythonOf(page: ReferencePage, operation: ApiOperation): string {
  const { url, headers, credential, body } = sampleRequest(page, operation)
  const { versionHeader } = page.wire
  const lines = [
    ...(credential
      ? [
          `    ${quote(credential.header)}: ${credential.prefix === '' ? '' : `${quote(credential.prefix)} + `}os.environ["API_KEY"],`,
        ]
      : []),
    ...(versionHeader === undefined ? [] : [`    ${quote(versionHeader)}: ${quote(page.api.version)},`]),
    ...Object.entries(headers).map(([name, value]) => `    ${quote(name)}: ${quote(value)},`),
    ...(body?.kind === 'bytes' ? [`    "Content-Type": ${quote(body.mediaType)},`] : []),
  ]
  const code = [
    'import requests',
    '',
    ...(lines.length > 0 ? ['headers = {', ...lines, '}'] : []),
    ...(body ? [bodyOf(body)] : []),
    'answer = requests.request(',
    `    ${quote(operation.method)},`,
    `    ${quote(url)},`,
    ...(lines.length > 0 ? ['    headers=headers,'] : []),
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

function bodyOf({ kind, value }: SampleBody): string {
  if (kind === 'bytes') return 'body = open("FILE", "rb")'
  const shown = kind === 'json' ? value : mapValues(value as object, show)
  return `body = ${printValue(shown, '')}`
}

const mapValues = (value: object, change: (each: unknown) => unknown): object =>
  Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each)]))

/** Prints a Python literal, on one line if it fits. */
function printValue(value: unknown, indent: string): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return typeof value === 'string' ? quote(value) : String(value)
  const list = Array.isArray(value)
  const items = list
    ? value.map((each) => ['', each] as const)
    : Object.entries(value).map(([name, each]) => [`${quote(name)}: `, each] as const)
  const [open, close] = list ? ['[', ']'] : ['{', '}']
  const line = `${open}${items.map(([start, each]) => start + printValue(each, '')).join(', ')}${close}`
  if (items.length === 0 || (!line.includes('\n') && line.length + indent.length <= WIDTH)) return line
  const inner = `${indent}    `
  return `${open}\n${items.map(([start, each]) => `${inner}${start}${printValue(each, inner)},\n`).join('')}${indent}${close}`
}

/** Python reads the escapes of JSON strings. */
const quote = (text: string): string =>
  joinGiven(JSON.stringify(text.toWellFormed()), (name) =>
    name === undefined ? 'str(uuid.uuid4())' : `os.environ[${JSON.stringify(name)}]`,
  )
