/** Files that hold secrets of a first start: no tool of the project reads them. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('what the README has written with keys in it is left to itself by git and by the formatter', () => {
  const { files } = JSON.parse(readFileSync('biome.json', 'utf8')) as {
    readonly files: { readonly includes: readonly string[] }
  }
  expect(files.includes).toContain('!**/ready.json')
  expect(execFileSync('git', ['check-ignore', 'ready.json'], { encoding: 'utf8' }).trim()).toBe('ready.json')
})
