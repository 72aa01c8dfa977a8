import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const rows = readFileSync(join(import.meta.dirname, 'cases.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Case'))
  .map((line) => line.slice(2, -2).split(' | '))

test.each(rows)('%s', (_case, held = '') => {
  if (held.startsWith('*Not yet*: ')) return
  const places = [...held.matchAll(/`([\w./-]+) › ([^`]+)`/g)]
  expect(places.length).toBeGreaterThan(0)
  for (const [, file = '', words = ''] of places) {
    expect([file, words, readFileSync(join(import.meta.dirname, file), 'utf8').includes(words)]).toEqual([
      file,
      words,
      true,
    ])
  }
})
