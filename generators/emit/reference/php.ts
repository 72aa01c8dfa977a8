/** Prints a request as a PHP program that uses streams, which need no extension. */
import type { ApiOperation } from '../../ir/model.ts'
import { joinGiven } from './given.ts'
import { type LiteralSyntax, printLiteral } from './literal.ts'
import type { ReferencePage } from './page.ts'
import { formFields, type SampleBody, sampleRequest, sentHeaders } from './request.ts'

export function phpOf(page: ReferencePage, operation: ApiOperation): string {
  const request = sampleRequest(page, operation)
  const { body } = request
  const headers = Object.entries(sentHeaders(page, request))
  return [
    '<?php',
    '',
    ...(body ? [`$body = ${bodyOf(body)};`] : []),
    "$context = stream_context_create(['http' => [",
    `    'method' => ${quote(operation.method)},`,
    "    'header' => [",
    ...headers.map(([name, value]) => `        ${quote(`${name}: ${value}`)},`),
    '    ],',
    ...(body ? ["    'content' => $body,"] : []),
    "    'timeout' => 30,",
    ']]);',
    `$answer = file_get_contents(${quote(request.url)}, false, $context);`,
    'if ($answer === false) {',
    "    throw new RuntimeException(error_get_last()['message']);",
    '}',
    page.keep === undefined
      ? 'echo $answer, PHP_EOL;'
      : `echo json_decode($answer)->id, PHP_EOL; // ${page.keep}`,
  ].join('\n')
}

function bodyOf({ kind, value }: SampleBody): string {
  if (kind === 'bytes') return "file_get_contents('FILE')"
  return kind === 'json'
    ? `json_encode(${printLiteral(value, SYNTAX)})`
    : `http_build_query(${printLiteral(formFields(value), SYNTAX)})`
}

/** The standard library has no UUIDs. This one has version 4 (RFC 9562, section 5.4). */
const NEW_UUID = "vsprintf('%s%s-%s-4%.3s-a%.3s-%s%s%s', str_split(bin2hex(random_bytes(16)), 4))"

const quote = (text: string): string =>
  joinGiven(
    `'${text.toWellFormed().replace(/[\\']/g, '\\$&')}'`,
    (name) => (name === undefined ? NEW_UUID : `getenv('${name}')`),
    ' . ',
  )

const SYNTAX: LiteralSyntax = {
  indent: '    ',
  nothing: 'null',
  true: 'true',
  false: 'false',
  list: ['[', ']'],
  map: ['[', ']'],
  emptyMap: 'new stdClass()',
  arrow: ' => ',
  quote,
}
