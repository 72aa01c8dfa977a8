/** Files for Apple Wallet as others read them: unzip and openssl. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

export type Files = ReadonlyMap<string, Buffer>

/** The files of an archive, as Info-ZIP unpacks them after having tested it. */
export function unzip(archive: Buffer): Files {
  const directory = mkdtempSync(join(tmpdir(), 'svc-pkpass-'))
  try {
    const file = join(directory, 'a.pkpass')
    writeFileSync(file, archive)
    execFileSync('unzip', ['-tqq', file])
    execFileSync('unzip', ['-qq', file, '-d', join(directory, 'out')])
    const entries = readdirSync(join(directory, 'out'), { recursive: true, withFileTypes: true })
    const files = entries.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name))
    return new Map(files.map((path) => [relative(join(directory, 'out'), path), readFileSync(path)]))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

/** Pairs of a strings file, in the grammar of Apple's property lists: quoted strings with escapes, `=` and `;`. */
export function readStrings(file: Buffer): Record<string, string> {
  const text = file.toString('utf8')
  const pair = /"((?:[^"\\]|\\.)*)"\s*=\s*"((?:[^"\\]|\\.)*)"\s*;\s*/gy
  const pairs: [string, string][] = []
  while (pair.lastIndex < text.length) {
    const found = pair.exec(text)
    if (!found) throw new Error(`not a strings file: ${text}`)
    pairs.push([JSON.parse(`"${found[1]}"`), JSON.parse(`"${found[2]}"`)])
  }
  return Object.fromEntries(pairs)
}

/** Whether openssl takes the signature for one of the manifest, by a chain that ends in the root. */
export function verifies(manifest: Buffer, signature: Buffer, root: string): boolean {
  const directory = mkdtempSync(join(tmpdir(), 'svc-smime-'))
  try {
    writeFileSync(join(directory, 'manifest.json'), manifest)
    writeFileSync(join(directory, 'signature'), signature)
    const words = [
      'smime',
      '-verify',
      '-binary',
      '-inform',
      'DER',
      '-in',
      'signature',
      '-content',
      'manifest.json',
    ]
    const { status, stdout } = spawnSync('openssl', [...words, '-CAfile', root], { cwd: directory })
    return status === 0 && stdout.equals(manifest)
  } finally {
    rmSync(directory, { recursive: true })
  }
}
