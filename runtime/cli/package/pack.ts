/**
 * Packs the `svc` tarball: `npm run svc:pack -- --out DIR`. It includes all dependencies, so it installs without a registry.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { compile } from './modules.ts'

const ROOT = join(import.meta.dirname, '../../..')
const ENTRY = 'runtime/cli/svc.ts'

interface PackageManifest {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly bin: { readonly svc: string }
}

const readManifest = (folder: string): PackageManifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** Returns the names of the manifest's dependencies, including indirect ones. */
function closureOf(manifest: PackageManifest): ReadonlySet<string> {
  const names = new Set(Object.keys(manifest.dependencies ?? {}))
  for (const name of names) {
    const wanted = readManifest(join(ROOT, 'node_modules', name)).dependencies ?? {}
    for (const each of Object.keys(wanted)) names.add(each)
  }
  return names
}

function stage(folder: string): void {
  const manifest = readManifest(import.meta.dirname)
  for (const [path, text] of compile(ROOT, ENTRY).files) {
    const file = join(folder, 'dist', path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  chmodSync(join(folder, manifest.bin.svc), 0o755)
  for (const name of closureOf(manifest)) {
    cpSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true })
  }
  for (const file of ['package.json', 'README.md'])
    cpSync(join(import.meta.dirname, file), join(folder, file))
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
}

/** Packs the tarball and returns its path. */
function pack(out: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-pack-'))
  try {
    stage(folder)
    mkdirSync(out, { recursive: true })
    const words = ['pack', '--silent', '--ignore-scripts', '--pack-destination', out]
    const name = execFileSync('npm', words, { cwd: folder, encoding: 'utf8' }).trim()
    return join(out, name)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const { out } = parseArgs({ options: { out: { type: 'string' } } }).values
if (out === undefined) {
  process.stderr.write('error: --out is missing: expected the folder for the tarball\n')
  process.exitCode = 2
} else process.stdout.write(`${pack(resolve(out))}\n`)
