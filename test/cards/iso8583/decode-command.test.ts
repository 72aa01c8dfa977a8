/** `admin network decode`, and the message in the documentation. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createProgram } from '../../../runtime/operator/command/admin-program.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-iso-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

/** Runs the command on a file with the given text. Returns what it prints. */
async function decode(text: string, ...options: readonly string[]): Promise<string> {
  const file = join(directory, 'message.hex')
  writeFileSync(file, text)
  let printed = ''
  const print = (line: string) => {
    printed += line
  }
  const words = ['network', 'decode', '--file', file, ...options]
  await createProgram({ env: {}, print, say: () => {} }).parseAsync(words, { from: 'user' })
  return printed
}

const [dump = '', fields = ''] = [
  ...readFileSync('docs/iso8583.md', 'utf8').matchAll(/```text\n(.*?)```/gs),
].map(([, block]) => block)

test('the documentation shows a message and its fields as the command prints them', async () => {
  expect(await decode(dump, '--dialect', 'bcd')).toBe(fields)
})

test.each([
  [dump, /^message type at byte 0: expected 4 digits, but found 0x01\n0000 {2}\*\*/],
  ['01 0', /does not have pairs of hexadecimal digits/],
])('a message of a different dialect and text that is not hexadecimal are refused', async (text, problem) => {
  await expect(decode(text)).rejects.toMatchObject({
    kind: 'invalid',
    message: expect.stringMatching(problem),
  })
})
