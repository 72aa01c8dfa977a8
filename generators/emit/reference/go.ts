/** Prints a request as a Go program that uses `net/http`. */
import type { ApiOperation } from '../../ir/model.ts'
import { joinGiven } from './given.ts'
import type { ReferencePage } from './page.ts'
import { type SampleBody, sampleRequest, sentHeaders, textOf } from './request.ts'

const STOP = ['\tif err != nil {', '\t\tlog.Fatal(err)', '\t}']

/** The standard library has no UUIDs. This one has version 4 (RFC 9562, section 5.4). */
const NEW_KEY = [
  '\tkey := make([]byte, 16)',
  '\tif _, err := rand.Read(key); err != nil {',
  ...STOP.slice(1),
  '\tkey[6] = key[6]&0x0f | 0x40',
  '\tkey[8] = key[8]&0x3f | 0x80',
]

export function goOf(page: ReferencePage, operation: ApiOperation): string {
  const request = sampleRequest(page, operation)
  const { url, body } = request
  const lines = Object.entries(sentHeaders(page, request)).map(
    ([name, value]) => `\trequest.Header.Set(${quote(name)}, ${quote(value)})`,
  )
  const code = [
    'func main() {',
    ...(body ? bodyOf(body) : []),
    `\trequest, err := http.NewRequest(${quote(operation.method)}, ${quote(url)}, ${body ? 'body' : 'nil'})`,
    ...STOP,
    ...(lines.some((line) => line.includes(UUID)) ? NEW_KEY : []),
    ...lines,
    '\tclient := &http.Client{Timeout: 30 * time.Second}',
    '\tanswer, err := client.Do(request)',
    ...STOP,
    '\tdefer answer.Body.Close()',
    '\tif answer.StatusCode >= 400 {',
    '\t\tlog.Fatal(answer.Status)',
    '\t}',
    '\ttext, err := io.ReadAll(answer.Body)',
    ...STOP,
    `\tfmt.Println(string(text))${page.keep === undefined ? '' : ` // its id is ${page.keep}`}`,
    '}',
  ].join('\n')
  const packages = [
    ...(code.includes('rand.') ? ['crypto/rand'] : []),
    ...['fmt', 'io', 'log', 'net/http'],
    ...(code.includes('os.') ? ['os'] : []),
    ...(code.includes('strings.') ? ['strings'] : []),
    'time',
  ]
  return ['package main', '', 'import (', ...packages.map((name) => `\t"${name}"`), ')', '', code].join('\n')
}

function bodyOf(body: SampleBody): string[] {
  if (body.kind === 'bytes') return ['\tbody, err := os.Open("FILE")', ...STOP]
  const raw = `\`${textOf(body).replaceAll('`', '` + "`" + `')}\``
  return [`\tbody := strings.NewReader(${joinGiven(raw, print)})`]
}

const UUID = 'fmt.Sprintf("%x-%x-%x-%x-%x", key[:4], key[4:6], key[6:8], key[8:10], key[10:])'

const print = (name: string | undefined): string =>
  name === undefined ? UUID : `os.Getenv(${JSON.stringify(name)})`

/** Go reads the escapes of JSON strings. The operator has no spaces in a list of arguments, as gofmt prints it. */
const quote = (text: string): string => joinGiven(JSON.stringify(text.toWellFormed()), print, '+')
