import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeOnce } from '../development-file.ts'
import { type SubjectNames, writeCertificate } from './certificate.ts'

/** Paths of PEM files. */
export interface SignerFiles {
  readonly certificate: string
  readonly key: string
  readonly wwdr: string
}

/** What passes of an installation for development are. */
export const DEVELOPMENT = { passType: 'pass.development.invalid', team: 'DEVELOP000' } as const

const YEAR = 365 * 86_400_000

/**
 * The files of a chain as Apple's is: a root, an authority that stands for "Worldwide Developer Relations", and the certificate
 * of a pass type. Made below the data directory when it is not there; the keys of both authorities are kept nowhere.
 *
 * @param now machine time, milliseconds since the epoch.
 */
export function developmentFiles(dataDir: string, now: number): SignerFiles {
  const directory = join(dataDir, 'wallet')
  // In one file first: starts that come together agree on all of it.
  const bundle = makeOnce(join(directory, 'apple.pem'), () => makeChain(now))
  const [key, pass, wwdr, root] = bundle.match(/-----BEGIN [\s\S]+?-----END [A-Z ]+-----\n/g) ?? []
  if (!root) throw new Error(`${join(directory, 'apple.pem')} is broken: remove it, and another is made`)
  const files = { certificate: 'pass.pem', key: 'pass-key.pem', wwdr: 'wwdr.pem', root: 'root.pem' }
  const contents = { certificate: pass!, key: key!, wwdr: wwdr!, root }
  for (const name of ['certificate', 'key', 'wwdr', 'root'] as const) {
    keep(join(directory, files[name]), contents[name], name === 'key' ? 0o600 : 0o644)
  }
  const at = (name: keyof typeof files) => join(directory, files[name])
  return { certificate: at('certificate'), key: at('key'), wwdr: at('wwdr') }
}

function keep(file: string, content: string, mode: number): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === content) return
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, content, { mode })
  renameSync(draft, file)
}

/** Key and certificate of the pass type, authority, root: all of RSA, as Apple's are, because not every program reads others. */
function makeChain(now: number): string {
  const from = Math.floor(now / 86_400_000) * 86_400_000 - 86_400_000
  const life = { from, to: from + 10 * YEAR }
  const root = authority('Wallet Development Root')
  const wwdr = authority('Wallet Development Relations')
  const { publicKey, key } = makeKeys()
  const { passType, team } = DEVELOPMENT
  const subject = { UID: passType, CN: `Pass Type ID: ${passType}`, OU: team, O: 'Wallet Development' }
  return [
    key.export({ type: 'pkcs8', format: 'pem' }),
    writeCertificate({ ...life, subject, publicKey, issuer: wwdr, isAuthority: false }),
    writeCertificate({ ...life, ...wwdr, issuer: root, isAuthority: true }),
    writeCertificate({ ...life, ...root, issuer: root, isAuthority: true }),
  ].join('')
}

function authority(name: string) {
  return { subject: { CN: name, O: 'Wallet Development' } satisfies SubjectNames, ...makeKeys() }
}

function makeKeys() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { publicKey, key: privateKey }
}
