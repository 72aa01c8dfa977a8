/** The verification samples of the webhooks page, each run by the language that it is in, where that is installed. */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verify } from '../../docs/site/samples/verify.ts'
import { ROOT } from '../support/programs.ts'

const SECRET = 'whsec_test'
const BODY = '{"type":"pass.updated","note":"é ✓"}'
const sample = (name: string) => join(ROOT, 'docs/site/samples', name)

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signatures-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function sign(body: string, secret: string, ageSeconds = 0): string {
  const seconds = Math.floor(Date.now() / 1000) - ageSeconds
  const hex = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  return `t=${seconds},v1=${hex}`
}

/** A second signature, as while a secret is rotated. */
const rotated = () => sign(BODY, 'whsec_old') + sign(BODY, SECRET).replace(/^t=\d+/, '')

const CASES: readonly (readonly [string, () => string, boolean])[] = [
  ['its own', () => sign(BODY, SECRET), true],
  ['one of two', rotated, true],
  ["another secret's", () => sign(BODY, 'whsec_other'), false],
  ["another body's", () => sign(`${BODY} `, SECRET), false],
  ['one of six minutes ago', () => sign(BODY, SECRET, 360), false],
  ['none at all', () => `t=${Math.floor(Date.now() / 1000)}`, false],
]

/** Programs that print true or false. Body, header and secret are their arguments. */
const PROGRAMS: Readonly<Record<string, () => readonly string[]>> = {
  python3: () => {
    const file = join(folder, 'run.py')
    const call = 'print(str(verify(sys.argv[1].encode(), sys.argv[2], sys.argv[3])).lower())'
    writeFileSync(
      file,
      `import sys\nsys.path.insert(0, ${JSON.stringify(sample(''))})\nfrom verify import verify\n${call}\n`,
    )
    return ['python3', '-B', file]
  },
  ruby: () => [
    'ruby',
    '-r',
    sample('verify.rb'),
    '-e',
    'puts verify(ARGV[0].dup.force_encoding("BINARY"), ARGV[1], ARGV[2])',
    '--',
  ],
  php: () => [
    'php',
    '-r',
    `require ${JSON.stringify(sample('verify.php'))}; echo json_encode(verify($argv[1], $argv[2], $argv[3]));`,
    '--',
  ],
  java: () => {
    const file = join(folder, 'Run.java')
    writeFileSync(
      file,
      'public class Run { public static void main(String[] a) throws Exception {\n' +
        '  System.out.println(Verify.verify(a[0].getBytes("UTF-8"), a[1], a[2]));\n} }\n',
    )
    execFileSync('javac', ['-d', folder, file, sample('Verify.java')])
    return ['java', '-cp', folder, '-Dsun.jnu.encoding=UTF-8', '-Dfile.encoding=UTF-8', 'Run']
  },
  go: () => {
    const run =
      'package main\nimport ("fmt"; "os"; "signatures/webhooks")\n' +
      'func main() { fmt.Println(webhooks.Verify([]byte(os.Args[1]), os.Args[2], os.Args[3])) }\n'
    mkdirSync(join(folder, 'go/webhooks'), { recursive: true })
    writeFileSync(join(folder, 'go/go.mod'), 'module signatures\n')
    writeFileSync(join(folder, 'go/main.go'), run)
    copyFileSync(sample('verify.go'), join(folder, 'go/webhooks/verify.go'))
    const env = { ...process.env, GOCACHE: join(folder, 'go-cache'), GOFLAGS: '-mod=mod', GOPROXY: 'off' }
    execFileSync('go', ['build', '-o', join(folder, 'run-go'), '.'], { cwd: join(folder, 'go'), env })
    return [join(folder, 'run-go')]
  },
  openssl: () => {
    const file = join(folder, 'run.sh')
    writeFileSync(
      file,
      `printf %s "$1" > ${folder}/body\nset -- ${folder}/body "$2" "$3"\nif (. ${sample('verify.sh')}) > /dev/null; then echo true; else echo false; fi\n`,
    )
    return ['sh', file]
  },
}

const COMPILERS: Readonly<Record<string, string>> = { java: 'javac' }
const isInstalled = (name: string) =>
  spawnSync('sh', ['-c', `command -v ${COMPILERS[name] ?? name}`]).status === 0

test('the TypeScript sample verifies signatures', () => {
  expect(CASES.map(([, header]) => verify(BODY, header(), SECRET))).toEqual(CASES.map(([, , want]) => want))
})

const installed = Object.entries(PROGRAMS).filter(([name]) => isInstalled(name))
for (const name of Object.keys(PROGRAMS).filter((name) => !isInstalled(name)))
  console.warn(`\nLEFT OUT: the sample in ${name} – there is no ${COMPILERS[name] ?? name}\n`)

test('the machine has Python and openssl for the samples', () => {
  expect(installed.map(([name]) => name)).toEqual(expect.arrayContaining(['python3', 'openssl']))
})

describe.each(installed)('%s', (_name, program) => {
  test('the sample takes what is signed under the secret and is fresh, and nothing else', () => {
    const [command = '', ...words] = program()
    const said = CASES.map(([, header]) =>
      execFileSync(command, [...words, BODY, header(), SECRET], {
        encoding: 'utf8',
        env: { ...process.env, LC_ALL: 'C.UTF-8' },
      }).trim(),
    )
    expect(said).toEqual(CASES.map(([, , want]) => String(want)))
  })
})
