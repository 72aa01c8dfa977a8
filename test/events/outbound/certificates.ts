import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Pair {
  readonly key: string
  readonly cert: string
}

export interface Certificates {
  /** Of the authority, to be trusted. */
  readonly ca: string
  readonly good: Pair
  readonly expired: Pair
  readonly future: Pair
  readonly wrongHost: Pair
  readonly selfSigned: Pair
  /** Signed by an authority that nobody trusts. */
  readonly untrusted: Pair
}

const CURVE = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
const AUTHORITY = ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign']

/** OpenSSL's notation of instants, `YYYYMMDDHHMMSSZ`, a number of days from now. */
function inDays(days: number): string {
  const at = new Date(Date.now() + days * 86_400_000)
  return `${at.toISOString().replaceAll(/[-:T]|\..*/g, '')}Z`
}

/** Makes certificates with the openssl program: all for `host`, each with the one fault that its name says. */
export function makeCertificates(host: string): Certificates {
  const directory = mkdtempSync(join(tmpdir(), 'svc-certificates-'))
  const openssl = (...words: readonly string[]) =>
    execFileSync('openssl', words, { cwd: directory, stdio: 'pipe' })
  const read = (name: string): Pair => ({
    key: readFileSync(join(directory, `${name}.key`), 'utf8'),
    cert: readFileSync(join(directory, `${name}.pem`), 'utf8'),
  })
  const selfSign = (name: string, ...extensions: readonly string[]) => {
    const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`]
    openssl('req', '-x509', ...CURVE, '-subj', `/CN=${name}`, '-days', '2', ...extensions, ...files)
    return read(name)
  }
  const sign = (name: string, authority: string, names: string, from: number, until: number) => {
    openssl('req', ...CURVE, '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.csr`)
    const times = ['-startdate', inDays(from), '-enddate', inDays(until)]
    const config = `[ca]\ndefault_ca=it\n[it]\ndatabase=${name}.txt\nnew_certs_dir=.\nserial=${name}.srl\ndefault_md=sha256
policy=any\nx509_extensions=ext\nunique_subject=no\n[any]\ncommonName=supplied\n[ext]\nsubjectAltName=${names}\n`
    writeFileSync(join(directory, `${name}.cnf`), config)
    writeFileSync(join(directory, `${name}.txt`), '')
    writeFileSync(join(directory, `${name}.srl`), '01\n')
    const signer = ['-cert', `${authority}.pem`, '-keyfile', `${authority}.key`]
    const files = ['-in', `${name}.csr`, '-out', `${name}.pem`]
    openssl('ca', '-batch', '-notext', '-config', `${name}.cnf`, ...signer, ...times, ...files)
    return read(name)
  }
  try {
    const authority = selfSign('authority', ...AUTHORITY)
    selfSign('stranger', ...AUTHORITY)
    const own = `DNS:${host}`
    return {
      ca: authority.cert,
      good: sign('good', 'authority', own, -1, 1),
      expired: sign('expired', 'authority', own, -2, -1),
      future: sign('future', 'authority', own, 1, 2),
      wrongHost: sign('wrong-host', 'authority', 'DNS:other.example.com', -1, 1),
      selfSigned: selfSign('self-signed', '-addext', `subjectAltName=${own}`),
      untrusted: sign('untrusted', 'stranger', own, -1, 1),
    }
  } finally {
    rmSync(directory, { recursive: true })
  }
}
