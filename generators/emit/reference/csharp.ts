/** Prints a request as a C# program that uses `HttpClient`. */
import { essenceOf } from '../../ir/media-type.ts'
import type { ApiOperation } from '../../ir/model.ts'
import { fillGiven, hasGiven, joinGiven } from './given.ts'
import type { ReferencePage } from './page.ts'
import { type SampleBody, sampleRequest, sentHeaders, textOf } from './request.ts'

/** Prints top-level statements, which need .NET 7 or newer and its implicit usings. */
export function csharpOf(page: ReferencePage, operation: ApiOperation): string {
  const request = sampleRequest(page, operation)
  const { url, body } = request
  const headers = Object.entries(sentHeaders(page, request)).filter(([name]) => name !== 'Content-Type')
  const code = [
    'using var client = new HttpClient { Timeout = TimeSpan.FromSeconds(30) };',
    `using var request = new HttpRequestMessage(new HttpMethod(${quote(operation.method)}), ${quote(url)});`,
    ...headers.map(([name, value]) => `request.Headers.Add(${quote(name)}, ${quote(value)});`),
    ...(body ? contentOf(body) : []),
    'using var answer = await client.SendAsync(request);',
    'answer.EnsureSuccessStatusCode();',
    `Console.WriteLine(await answer.Content.ReadAsStringAsync());${page.keep === undefined ? '' : ` // its id is ${page.keep}`}`,
  ].join('\n')
  return code.includes('Encoding.') ? `using System.Text;\n\n${code}` : code
}

/** The media type is a header of the content. */
function contentOf(body: SampleBody): string[] {
  if (body.kind === 'bytes')
    return [
      'request.Content = new StreamContent(File.OpenRead("FILE"));',
      `request.Content.Headers.Add("Content-Type", ${quote(body.mediaType)});`,
    ]
  const text = body.kind === 'form' ? quote(textOf(body)) : rawText(textOf(body))
  return [`request.Content = new StringContent(${text}, Encoding.UTF8, ${quote(essenceOf(body.mediaType))});`]
}

/** Prints a raw string literal, which interpolates between double braces if it has placeholders. */
function rawText(text: string): string {
  const lines = fillGiven(text, (name) => `{{${print(name)}}}`)
    .split('\n')
    .map((line) => `    ${line}`)
  return `${hasGiven(text) ? '$$' : ''}"""\n${lines.join('\n')}\n    """`
}

const print = (name: string | undefined): string =>
  name === undefined
    ? 'Guid.NewGuid().ToString()'
    : `Environment.GetEnvironmentVariable(${JSON.stringify(name)})`

/** C# reads the escapes of JSON strings. */
const quote = (text: string): string => joinGiven(JSON.stringify(text.toWellFormed()), print)
