import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { canEnter, canRun, serverAccount } from '../../runtime/database/embedded/account.ts'
import { shelterPrograms } from '../../runtime/database/embedded/shelter.ts'

const isRoot = process.getuid?.() === 0

/** Closed to others, as root's home is. */
let closed: string
let copies: string[]

beforeEach(() => {
  closed = mkdtempSync(join(tmpdir(), 'svc-closed-'))
  copies = []
  mkdirSync(join(closed, 'bin'))
  mkdirSync(join(closed, 'lib'))
  writeFileSync(join(closed, 'bin/postgres'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  writeFileSync(join(closed, 'lib/libpq.so.5.18'), 'library')
  symlinkSync('libpq.so.5.18', join(closed, 'lib/libpq.so.5'))
  writeFileSync(join(closed, 'lib/libpq.a'), 'archive')
})

afterEach(() => {
  for (const path of [closed, ...copies]) rmSync(path, { recursive: true, force: true })
})

test.runIf(isRoot)('programs that the server’s user cannot reach are copied to where it can, once', () => {
  const account = serverAccount()
  expect(canEnter(account, closed)).toBe(false)
  expect(canRun(account, join(closed, 'bin/postgres'))).toBe(false)

  const first = shelterPrograms(closed, '0.0-test')
  copies.push(first.copy)
  expect(first.made).toBe(true)
  expect(canRun(account, join(first.copy, 'bin/postgres'))).toBe(true)
  expect(readdirSync(join(first.copy, 'lib')).toSorted()).toEqual(['libpq.so.5', 'libpq.so.5.18'])
  expect(existsSync(join(first.copy, 'lib/libpq.so.5'))).toBe(true)

  expect(shelterPrograms(closed, '0.0-test')).toEqual({ copy: first.copy, made: false })
  const beside = readdirSync(dirname(first.copy)).filter((name) => name.includes('0.0-test'))
  expect(beside).toHaveLength(1)
})
