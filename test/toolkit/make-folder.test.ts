/** Folders are made with those above them, and never without end. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeFolder } from '../../generators/cache/make-folder.ts'

test('makeFolder makes what is missing, and leaves what is there', () => {
  const root = mkdtempSync(join(tmpdir(), 'folder-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  makeFolder(join(root, 'a/b/c'))
  makeFolder(join(root, 'a/b'))
  expect(existsSync(join(root, 'a/b/c'))).toBe(true)
})

test('makeFolder fails where the working directory has been removed meanwhile', () => {
  const root = mkdtempSync(join(tmpdir(), 'folder-'))
  const module = new URL('../../generators/cache/make-folder.ts', import.meta.url).href
  const script = `
    import { rmSync } from 'node:fs'
    import { makeFolder } from '${module}'
    rmSync(${JSON.stringify(root)}, { recursive: true })
    makeFolder('out/deeper')`
  const { status, signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    encoding: 'utf8',
    timeout: 20_000,
  })
  expect(signal).toBeNull()
  expect(status).toBe(1)
  expect(stderr).toContain('ENOENT')
})
