/** The files in `deploy`: they agree with the service, with each other, and with the tools that read them. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, matchesGlob } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { findOutdated } from '../../deploy/commands/write.ts'
import { changelogSection, licenseList, pinned } from '../../deploy/release/documents.ts'
import { isSecret, SETTING_NAMES, SETTINGS } from '../../runtime/platform/setting-catalog.ts'
import { ROLES } from '../../runtime/platform/settings.ts'
import { readDockerfile } from './dockerfile.ts'

const KNOWN: ReadonlySet<string> = new Set([
  ...SETTING_NAMES.flatMap((name) => (SETTINGS[name].isSecret ? [name, `${name}_FILE`] : [name])),
  'MALLOC_MMAP_THRESHOLD_',
])
const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))

describe('the Dockerfile', () => {
  const [build, run, ...more] = readDockerfile()
  const ofKeyword = (keyword: string) => run!.instructions.filter((each) => each.keyword === keyword)

  test('ends with an image that is not root, has a health check, and starts an existing program', () => {
    expect(more).toEqual([])
    expect(ofKeyword('USER').at(-1)?.text).toMatch(/^[1-9]\d+:[1-9]\d+$/)
    const programs = ['ENTRYPOINT', 'HEALTHCHECK'].flatMap((keyword) => ofKeyword(keyword)[0]!.command)
    const files = programs.filter((word) => word.includes('/'))
    expect(files).toHaveLength(3)
    expect(files.filter((file) => !existsSync(file))).toEqual([])
  })

  test('has the Node of the project, and no development packages', () => {
    expect([build!.base, run!.base]).toEqual(Array(2).fill(`node:${dependencies.node}-bookworm-slim`))
    const installs = build!.instructions.filter(({ text }) => text.includes('npm ci'))
    expect(installs.map(({ text }) => text.includes('--omit=dev'))).toEqual([true])
  })

  test('copies files that exist and that the build context has', () => {
    const allowed = readFileSync('deploy/Dockerfile.dockerignore', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1))
    const copied = build!.instructions
      .filter(({ keyword }) => keyword === 'COPY')
      .flatMap(({ words }) => words.slice(0, -1))
    expect(copied.filter((path) => !existsSync(path))).toEqual([])
    const left = copied.filter(
      (path) => !allowed.some((each) => path === each || matchesGlob(path, `${each}/**`)),
    )
    expect(left).toEqual([])
  })
})

interface ComposeService {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly secrets?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly depends_on?: Readonly<Record<string, unknown>>
  readonly healthcheck?: object
}

describe('the compose file', () => {
  const compose: {
    readonly services: Readonly<Record<string, ComposeService>>
    readonly secrets: Readonly<Record<string, { readonly file: string }>>
  } = parse(readFileSync('deploy/compose.yaml', 'utf8'), { merge: true })
  const services = Object.entries(compose.services)
  const own = services.filter(([, { image }]) => image.includes('dateline-service'))

  test('starts existing roles, read-only and without capabilities', () => {
    expect(own.map(([, { command }]) => command)).toEqual(
      ['api', 'worker', 'console'].map((role) => ['--role', role]),
    )
    expect(own.map(([, each]) => [each.read_only, each.cap_drop])).toEqual(Array(3).fill([true, ['ALL']]))
  })

  test('names settings, secrets and services that exist', () => {
    const settings = own.flatMap(([, { environment = {} }]) => Object.keys(environment))
    expect(settings.filter((name) => !KNOWN.has(name))).toEqual([])
    for (const [name, { environment = {}, secrets = [], depends_on = {}, healthcheck }] of services) {
      const files = Object.values(environment).flatMap(
        (value) => /^\/run\/secrets\/(.+)/.exec(value)?.[1] ?? [],
      )
      expect([name, files.toSorted()]).toEqual([name, secrets.toSorted()])
      expect(Object.keys(compose.secrets)).toEqual(expect.arrayContaining([...secrets]))
      expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(Object.keys(depends_on)))
      // The API has the health check of the image.
      if (name !== 'api') expect([name, healthcheck]).toEqual([name, expect.any(Object)])
    }
  })
})

describe('the systemd unit', () => {
  const unit = readFileSync('deploy/systemd/dateline@.service', 'utf8')
  const valuesOf = (text: string, key: string) =>
    [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value)

  test.each(['dateline@.service', 'network-role.conf'])(
    '%s passes credentials to settings that exist',
    (file) => {
      const text = readFileSync(join('deploy/systemd', file), 'utf8')
      const loaded = valuesOf(text, 'LoadCredential').map((value) => value.split(':')[0])
      const variables = valuesOf(text, 'Environment').flatMap((value) => value.split(' '))
      expect(variables.map((each) => each.split('=')[0]).filter((name) => !KNOWN.has(name!))).toEqual([])
      expect(variables.flatMap((each) => /=%d\/(.+)/.exec(each)?.[1] ?? [])).toEqual(loaded)
    },
  )

  test('the example of settings has settings that are not secret', () => {
    const text = readFileSync('deploy/systemd/settings.env', 'utf8')
    const names = [...text.matchAll(/^(\w+)=/gm)].map(([, name = '']) => name)
    expect(names.filter((name) => !SETTING_NAMES.some((each) => each === name && !isSecret(each)))).toEqual(
      [],
    )
  })

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
  test.skipIf(!hasSystemd)('is valid, and exposes little', () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-units-'))
    try {
      const [program = ''] = valuesOf(unit, 'ExecStart')[0]!.split(' ')
      for (const role of ROLES)
        writeFileSync(join(folder, `dateline@${role}.service`), unit.replaceAll(program, process.execPath))
      const units = ROLES.map((role) => join(folder, `dateline@${role}.service`))
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' })
      expect([status, stderr]).toEqual([0, ''])
      const words = ['security', '--offline=yes', '--threshold=15', units[0]!]
      execFileSync('systemd-analyze', words, { stdio: 'ignore' })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

describe('manual pages and completion', () => {
  test('are those of the programs: otherwise run npm run docs:commands', () => {
    expect(findOutdated()).toEqual([])
  })

  test.each([
    ['tenant cr', ['create']],
    ['tenant create --pl', ['--plan']],
    ['tenant create --plan s', ['standard']],
    ['tenant create --name key --plan e', ['enterprise']],
    ['key create --env ', ['sandbox', 'live']],
  ])('bash completes "dateline-admin %s"', (line, offers) => {
    const script = `source deploy/completion/dateline-admin.bash
COMP_WORDS=(dateline-admin "$@"); COMP_CWORD=$#
_dateline_admin
printf '%s\\n' "\${COMPREPLY[@]}"`
    const shown = execFileSync('bash', ['-c', script, 'bash', ...line.split(' ')], { encoding: 'utf8' })
    expect(shown.trim().split('\n')).toEqual(offers)
  })

  const hasGroff = spawnSync('groff', ['--version']).status === 0
  test.skipIf(!hasGroff).each(globSync('deploy/man/*.1'))('%s is a page without warnings', (page) => {
    const words = ['-man', '-ww', '-Tutf8', '-K', 'utf8', '-rLL=200n', page]
    const { status, stderr } = spawnSync('groff', words, { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  })
})

describe('the documents of a release', () => {
  const sbom = {
    serialNumber: 'urn:uuid:random',
    metadata: { timestamp: 'now', component: { name: 'service', version: '1.0.0' } },
    components: [
      { name: 'b', version: '2.0.0', licenses: [{ license: { id: 'MIT' } }] },
      { name: 'a', version: '1.0.0', licenses: [{ expression: 'MIT OR Apache-2.0' }] },
      { name: 'a', version: '1.0.0', licenses: [{ expression: 'MIT OR Apache-2.0' }] },
      { name: 'c', version: '0.1.0' },
    ],
  }

  test('the SBOM depends on the commit only', () => {
    const [one, same, other] = ['a', 'a', 'b'].map((commit) =>
      pinned(sbom, { name: 'wallet', commit, seconds: 1_790_000_000 }),
    )
    expect(one).toEqual(same)
    expect(one!.serialNumber).toMatch(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
    )
    expect(one!.metadata.component.name).toBe('wallet')
    expect(one!.serialNumber).not.toBe(other!.serialNumber)
    expect(one!.metadata.timestamp).toBe('2026-09-21T14:13:20.000Z')
  })

  test('the license list names each package once', () => {
    expect(licenseList(sbom)).toBe('a 1.0.0: MIT OR Apache-2.0\nb 2.0.0: MIT\nc 0.1.0: NOASSERTION\n')
  })

  test('the changes are the section of the version', () => {
    const changelog = '# Changelog\n\n## 1.1.0 (2026-02-01)\n\n- New.\n\n## 1.0.0\n\n- First.\n'
    expect(changelogSection(changelog, '1.1.0')).toBe('- New.\n')
    expect(changelogSection(changelog, '1.0.0')).toBe('- First.\n')
    expect(() => changelogSection(changelog, '1.0')).toThrow('CHANGELOG.md has no section "## 1.0"')
  })
})
