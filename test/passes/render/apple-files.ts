/** Files for Apple Wallet as others read them: unzip and openssl. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Files = ReadonlyMap<string, Buffer>

/** The files of an archive, as Info-ZIP unpacks them after having tested it. */
export function unzip(archive: Buffer): Files {
  const directory = mkdtempSync(join(tmpdir(), 'svc-pkpass-'))
  try {
    const file = join(directory, 'a.pkpass')
    writeFileSync(file, archive)
    execFileSync('unzip', ['-tqq', file])
    execFileSync('unzip', ['-qq', file, '-d', join(directory, 'out')])
    const names = readdirSync(join(directory, 'out'))
    return new Map(names.map((name) => [name, readFileSync(join(directory, 'out', name))]))
  } finally {
    rmSync(directory, { recursive: true })
  }
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
