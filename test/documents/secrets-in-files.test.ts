/** Files that hold secrets of a first start: no tool of the project reads them, and no package contains them. */
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from '../support/programs.ts'

const SECRETS = ['ready.json', '.env', '.env.local', '.data/pepper', '.data/postgres/PG_VERSION']

test('files with keys in them are ignored by git and by the formatter', () => {
  const { files } = JSON.parse(readFileSync('biome.json', 'utf8')) as {
    readonly files: { readonly includes: readonly string[] }
  }
  expect(files.includes).toContain('!**/ready.json')
  const ignored = execFileSync('git', ['check-ignore', ...SECRETS], { encoding: 'utf8' })
  expect(ignored.trim().split('\n')).toEqual(SECRETS)
})

interface Manifest {
  readonly name?: string
}

/** Folders that npm can make a package of, as paths below the root. */
const PACKAGES = globSync('**/package.json', { cwd: ROOT, exclude: ['**/node_modules', '**/.*'] })
  .filter((file) => (JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as Manifest).name !== undefined)
  .map((file) => dirname(file))

const isCopied = (path: string) => path === ROOT || !/^(node_modules$|\.(?!gitignore))/.test(basename(path))

describe('a package made of a checkout in which the service has run', () => {
  let checkout: string
  beforeAll(() => {
    checkout = mkdtempSync(join(tmpdir(), 'svc-packages-'))
    cpSync(ROOT, checkout, { recursive: true, filter: isCopied })
    for (const file of PACKAGES.flatMap((folder) => SECRETS.map((each) => join(checkout, folder, each)))) {
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, 'svc_sk_live_secret')
    }
  })
  afterAll(() => rmSync(checkout, { recursive: true }))

  test.each(PACKAGES)(
    'the package %s holds no secret of a checkout in which the service has run',
    (folder) => {
      const words = ['pack', '--dry-run', '--json', '--ignore-scripts']
      const cwd = join(checkout, folder)
      const [packed] = JSON.parse(
        execFileSync('npm', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
      ) as [{ readonly files: readonly { readonly path: string }[] }]
      const paths = packed.files.map(({ path }) => path)
      expect(paths).toContain('package.json')
      expect(paths.filter((path) => SECRETS.some((each) => `/${path}`.endsWith(`/${each}`)))).toEqual([])
    },
  )
})
