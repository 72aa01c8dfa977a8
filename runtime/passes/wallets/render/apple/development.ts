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

/** Pass type and team of development installations. */
export const DEVELOPMENT = { passType: 'pass.development.invalid', team: 'DEVELOP000' } as const

const YEAR = 365 * 86_400_000

/**
 * Returns the files of a certificate chain like Apple's: a root, an authority in the role of "Worldwide Developer
 * Relations", and the certificate of a pass type. Creates the chain in the data directory if it does not exist; the
 * keys of both authorities are discarded.
 *
 * @param now machine time in milliseconds since the epoch.
 */
export function developmentFiles(dataDir: string, now: number): SignerFiles {
  const directory = join(dataDir, 'wallet')
  // The chain is first written as one file, so that processes that start together use the same chain.
  const bundle = makeOnce(join(directory, 'apple.pem'), () => makeChain(now))
  const [key, pass, wwdr, root] = bundle.match(/-----BEGIN [\s\S]+?-----END [A-Z ]+-----\n/g) ?? []
  if (!root)
    throw new Error(`${join(directory, 'apple.pem')} is damaged: delete it and restart to create a new one`)
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

/**
 * Creates the key and certificate of the pass type, then the authority and root certificates. All keys are RSA, like
 * Apple's, because some programs cannot read other keys.
 */
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
