/**
 * `npm run release -- --out DIR`: makes the files of a release from the commit that is checked out. The same commit
 * gives the same bytes: times come from SOURCE_DATE_EPOCH or the commit (reproducible-builds.org), and nothing else
 * depends on the machine or the moment.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { changelogSection, licenseList, pinned, type Sbom } from './documents.ts'
import { git, serviceTar } from './service-tar.ts'

const ROOT = join(import.meta.dirname, '../..')

function writeService(out: string, version: string, commit: string): void {
  const name = `wallet-pass-service-${version}`
  // gzip gets no time.
  writeFileSync(join(out, `${name}.tgz`), gzipSync(serviceTar(commit, name), { level: 9 }))
}

/** Runs npm in a folder, with the Node that runs this program. */
function npm(cwd: string, ...words: readonly string[]): string {
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const options = { cwd, env: { ...process.env, PATH }, encoding: 'utf8', maxBuffer: 1e9 } as const
  return execFileSync('npm', words, { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
}

/**
 * Packs `svc`, the toolkit and the client in a copy of the commit, because packing edits manifests. npm sets all times
 * to a constant.
 */
function writePackages(out: string, copy: string, commit: string): void {
  const pack = (folder: string) => npm(join(copy, folder), 'pack', '--silent', '--pack-destination', out)
  execFileSync(process.execPath, [join(copy, 'runtime/cli/package/pack.ts'), '--out', out])
  pack('generators')
  npm(join(copy, 'generated/client'), 'pkg', 'set', `gitHead=${commit}`)
  pack('generated/client')
  for (const name of readdirSync(out)) requireBuilt(join(out, name))
}

/** Throws if a package has no JavaScript, because a build did not run. The service runs on its TypeScript. */
function requireBuilt(tarball: string): void {
  const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' })
  if (/^package\/dist\/.*\.js$/m.test(files) || files.startsWith('wallet-pass-service')) return
  throw new Error(`${tarball} has no built files`)
}

function readSbom(copy: string): Sbom {
  return JSON.parse(
    npm(
      copy,
      'sbom',
      '--sbom-format=cyclonedx',
      '--sbom-type=application',
      '--omit=dev',
      '--package-lock-only',
    ),
  )
}

function writeSums(out: string): void {
  const sums = readdirSync(out)
    .toSorted()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(out, name)))
          .digest('hex')}  ${name}\n`,
    )
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''))
}

function release(out: string): void {
  if (git('status', '--porcelain').length > 0)
    throw new Error(
      'the working tree has changes: commit them, so that the release names the commit it is made from',
    )
  const commit = git('rev-parse', 'HEAD').toString().trim()
  const seconds = process.env.SOURCE_DATE_EPOCH ?? git('log', '-1', '--format=%ct', commit).toString().trim()
  const { name, version }: { name: string; version: string } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  )
  const staging = mkdtempSync(join(tmpdir(), 'release-'))
  try {
    const [copy, files] = [join(staging, 'copy'), join(staging, 'files')]
    for (const folder of [copy, files]) mkdirSync(folder)
    execFileSync('tar', ['-x', '-C', copy], { input: git('archive', commit) })
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    writeService(files, version, commit)
    writePackages(files, copy, commit)
    const sbom = pinned(readSbom(copy), { name, commit, seconds: Number(seconds) })
    writeFileSync(join(files, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`)
    writeFileSync(join(files, 'licenses.txt'), licenseList(sbom))
    const changelog = readFileSync(join(copy, 'CHANGELOG.md'), 'utf8')
    writeFileSync(join(files, 'CHANGES.md'), changelogSection(changelog, version))
    writeSums(files)
    mkdirSync(dirname(out), { recursive: true })
    renameSync(files, out)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

const { out } = parseArgs({ options: { out: { type: 'string' } } }).values
if (out === undefined || existsSync(out)) {
  const problem =
    out === undefined ? 'is missing: expected a new folder' : `${out} exists: expected a new folder`
  process.stderr.write(`error: --out ${problem}\n`)
  process.exitCode = 2
} else {
  release(resolve(out))
  process.stdout.write(readFileSync(join(out, 'SHA256SUMS')))
}
