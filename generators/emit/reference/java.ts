/** Prints a request as a Java program that uses `java.net.http`. */
import type { ApiOperation } from '../../ir/model.ts'
import { fillGiven, hasGiven, joinGiven } from './given.ts'
import type { ReferencePage } from './page.ts'
import { type SampleBody, sampleRequest, sentHeaders, textOf } from './request.ts'

/** Prints a file that `java Sample.java` runs. */
export function javaOf(page: ReferencePage, operation: ApiOperation): string {
  const request = sampleRequest(page, operation)
  const { url, body } = request
  const headers = Object.entries(sentHeaders(page, request))
  const code = [
    'public class Sample {',
    '  public static void main(String[] args) throws Exception {',
    ...(body ? [`    var body = ${bodyOf(body)};`] : []),
    `    var request = HttpRequest.newBuilder(URI.create(${quote(url)}))`,
    '        .timeout(Duration.ofSeconds(30))',
    ...headers.map(([name, value]) => `        .header(${quote(name)}, ${quote(value)})`),
    `        .${methodOf(operation, body)}`,
    '        .build();',
    '    var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());',
    '    if (answer.statusCode() >= 400) {',
    '      throw new IllegalStateException("status " + answer.statusCode());',
    '    }',
    `    System.out.println(answer.body());${page.keep === undefined ? '' : ` // its id is ${page.keep}`}`,
    '  }',
    '}',
  ].join('\n')
  const classes = [
    ...[
      'java.net.URI',
      'java.net.http.HttpClient',
      'java.net.http.HttpRequest',
      'java.net.http.HttpResponse',
    ],
    ...(body?.kind === 'bytes' ? ['java.nio.file.Path'] : []),
    'java.time.Duration',
    ...(code.includes('UUID.') ? ['java.util.UUID'] : []),
  ]
  return [...classes.map((name) => `import ${name};`), '', code].join('\n')
}

/** A builder has short methods for the requests that seldom have a body. */
function methodOf({ method }: ApiOperation, body: SampleBody | undefined): string {
  if (!body && (method === 'GET' || method === 'DELETE')) return `${method}()`
  const publisher = body?.kind === 'bytes' ? 'ofFile(body)' : body ? 'ofString(body)' : 'ofString("")'
  return `method(${quote(method)}, HttpRequest.BodyPublishers.${publisher})`
}

/** Prints JSON as a text block, in which only backslashes are special. */
function bodyOf(body: SampleBody): string {
  if (body.kind === 'bytes') return 'Path.of("FILE")'
  const text = textOf(body)
  if (body.kind === 'form') return quote(text)
  const names: (string | undefined)[] = []
  const block = (hasGiven(text) ? text.replaceAll('%', '%%') : text).replaceAll('\\', '\\\\')
  const filled = fillGiven(block, (name) => {
    names.push(name)
    return '%s'
  })
  const lines = filled.split('\n').map((line) => `        ${line}`)
  const values = names.length > 0 ? `.formatted(${names.map(print).join(', ')})` : ''
  return `"""\n${lines.join('\n')}"""${values}`
}

const print = (name: string | undefined): string =>
  name === undefined ? 'UUID.randomUUID().toString()' : `System.getenv(${JSON.stringify(name)})`

/** Java reads the escapes of JSON strings. */
const quote = (text: string): string => joinGiven(JSON.stringify(text.toWellFormed()), print)
