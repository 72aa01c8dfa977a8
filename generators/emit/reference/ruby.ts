/** Prints a request as a Ruby program that uses `net/http`. */
import type { ApiOperation } from '../../ir/model.ts'
import { joinGiven } from './given.ts'
import { type LiteralSyntax, printLiteral } from './literal.ts'
import type { ReferencePage } from './page.ts'
import { formFields, type SampleBody, sampleRequest, sentHeaders } from './request.ts'

export function rubyOf(page: ReferencePage, operation: ApiOperation): string {
  const request = sampleRequest(page, operation)
  const { body } = request
  const headers = Object.entries(sentHeaders(page, request))
  const code = [
    `uri = URI(${quote(request.url)})`,
    'headers = {',
    ...headers.map(([name, value]) => `  ${quote(name)} => ${quote(value)},`),
    '}',
    ...(body ? [`body = ${bodyOf(body)}`] : []),
    'options = { use_ssl: uri.scheme == "https", open_timeout: 30, read_timeout: 30 }',
    'answer = Net::HTTP.start(uri.host, uri.port, options) do |http|',
    `  http.send_request(${quote(operation.method)}, uri.request_uri, ${body ? 'body' : 'nil'}, headers)`,
    'end',
    'answer.value # raises an error if the request failed',
    page.keep === undefined ? 'puts answer.body' : `puts JSON.parse(answer.body)["id"] # ${page.keep}`,
  ].join('\n')
  const libraries = [
    ...(code.includes('JSON.') ? ['json'] : []),
    'net/http',
    ...(code.includes('SecureRandom') ? ['securerandom'] : []),
  ]
  return [...libraries.map((name) => `require "${name}"`), '', code].join('\n')
}

function bodyOf({ kind, value }: SampleBody): string {
  if (kind === 'bytes') return 'File.binread("FILE")'
  return kind === 'json'
    ? `JSON.generate(${printLiteral(value, SYNTAX)})`
    : `URI.encode_www_form(${printLiteral(formFields(value), SYNTAX)})`
}

/** Ruby reads the escapes of JSON strings, and interpolates after `#`. */
const quote = (text: string): string =>
  joinGiven(JSON.stringify(text.toWellFormed()).replace(/#(?=[{$@])/g, '\\#'), (name) =>
    name === undefined ? 'SecureRandom.uuid' : `ENV.fetch(${JSON.stringify(name)})`,
  )

const SYNTAX: LiteralSyntax = {
  indent: '  ',
  nothing: 'nil',
  true: 'true',
  false: 'false',
  list: ['[', ']'],
  map: ['{', '}'],
  emptyMap: '{}',
  arrow: ' => ',
  quote,
}
