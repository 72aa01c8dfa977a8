/** What the tab key offers, and what `svc open` knows of identifiers. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { current } from '../../generated/versions.ts'
import { readDocument } from '../../runtime/api/explanation.ts'
import { candidatesFor } from '../../runtime/cli/completion-candidates.ts'
import { GUIDES } from '../../runtime/cli/guides.ts'
import { pathOf } from '../../runtime/cli/svc-open.ts'
import { createProgram } from '../../runtime/cli/svc-program.ts'
import { MisuseError } from '../../runtime/cli/svc-session.ts'
import { ROOT } from '../support/programs.ts'

const program = createProgram({ print: () => {}, say: () => {}, interruption: () => AbortSignal.abort() })

test.each<[line: string, offers: readonly string[]]>([
  ['lis', ['listen']],
  ['cards ', ['simulate']],
  ['--json cards simulate re', ['refund', 'reversal']],
  ['login --e', ['--env']],
  ['login --env ', ['live', 'sandbox']],
  ['get /v1/passes/', ['/v1/passes/', '/v1/passes/count']],
  [
    'post /v1/passes/pass_1/',
    ['/v1/passes/pass_1/archive', '/v1/passes/pass_1/messages', '/v1/passes/pass_1/revoke'],
  ],
  ['patch /v1/webhook', ['/v1/webhook-endpoints/']],
  ['get /v1/events/st', []],
  [
    'events --type pass_template.',
    ['pass_template.archived', 'pass_template.created', 'pass_template.updated'],
  ],
  ['trigger webhook', ['webhook_endpoint.blocked', 'webhook_endpoint.test', 'webhook_endpoint.unblocked']],
  ['open we', ['webhooks']],
  ['logs ', ['list', 'tail']],
  ['logs tail --m', ['--method']],
  ['completion ', ['bash', 'fish', 'zsh']],
  ['--base-url ', []],
])('completion offers words after "svc %s"', (line, offers) => {
  expect(candidatesFor(program, line.split(' '))).toEqual(offers)
})

test('bash offers what svc completes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bash-'))
  symlinkSync(join(ROOT, 'runtime/cli/svc.ts'), join(folder, 'svc'))
  const script = `source <(svc completion bash)
COMP_WORDS=(svc get /v1/passes/c); COMP_CWORD=2
_svc
printf '%s\\n' "\${COMPREPLY[@]}"
complete -p svc`
  const env = { PATH: [folder, join(ROOT, 'node_modules/.bin'), process.env.PATH].join(':'), HOME: folder }
  const shown = execFileSync('bash', ['-c', script], { env, encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  expect(shown).toBe('/v1/passes/count\ncomplete -F _svc svc\n')
})

interface Schema {
  readonly pattern?: string
}

interface Operation {
  readonly operationId: string
}

test('every identifier that an operation reads a record by can be opened', () => {
  const { paths, components } = readDocument(current).parsed() as unknown as {
    readonly paths: Record<string, { readonly get?: Operation }>
    readonly components: { readonly schemas: Record<string, Schema> }
  }
  const read = Object.values(paths).flatMap(({ get }) => get?.operationId ?? [])
  const prefixes = Object.values(components.schemas).flatMap(
    ({ pattern = '' }) => /^\^([a-z]+)_\[0-9a-hjkmnp-tv-z\]\{26\}\$$/.exec(pattern)?.[1] ?? [],
  )
  // A tenant, an audit entry, a key, a card token, a line of a settlement, an entry of the balance, a version of spending
  // controls and a flip of a backtest are read by no path of their own.
  const apart = ['ten', 'aud', 'key', 'tok', 'sln', 'len', 'scv', 'scf']
  const opened = prefixes
    .filter((prefix) => !apart.includes(prefix))
    .map((prefix) => pathOf(`${prefix}_01jxg19h8j7k6m5n4p3q2r1s0t`).split('#')[1])
  expect(opened.length).toBeGreaterThan(15)
  expect(opened.filter((operation) => !read.includes(operation!))).toEqual([])
  for (const prefix of apart)
    expect(() => pathOf(`${prefix}_01jxg19h8j7k6m5n4p3q2r1s0t`)).toThrow(MisuseError)
  expect(pathOf('card_01jxg19h8j7k6m5n4p3q2r1s0t')).toBe(`/docs/${current}#getCard`)
})

test('every guide can be opened, and the help of commands names guides', () => {
  const written = readdirSync(join(ROOT, 'docs/site')).flatMap(
    (file) => /^\d+-(.+)\.md\.hbs$/.exec(file)?.[1] ?? [],
  )
  expect([...GUIDES].toSorted()).toEqual([...written, 'changelog'].toSorted())
  expect(GUIDES.map(pathOf)).toEqual(GUIDES.map((slug) => `/docs/${slug}`))
  let named: string[] = []
  for (const command of program.commands) {
    command.configureOutput({
      writeOut: (text) => {
        named = [...named, ...(/^Guide: svc open (.+)$/m.exec(text)?.slice(1) ?? [])]
      },
    })
    command.outputHelp()
  }
  expect(named.length).toBeGreaterThan(6)
  expect(named.filter((slug) => !GUIDES.includes(slug))).toEqual([])
})
