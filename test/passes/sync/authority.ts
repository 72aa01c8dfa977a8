import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Authority {
  /** PEM. */
  readonly cert: string
  /** A certificate for a server of that name, or with a UID for who sends. */
  issue(name: string, options?: { readonly uid?: string }): { readonly cert: string; readonly key: string }
}

const CURVE = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** Makes certificates with the openssl program. */
export function makeAuthority(): Authority {
  const make = <T>(
    work: (openssl: (...words: readonly string[]) => void, path: (name: string) => string) => T,
  ): T => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-authority-'))
    try {
      return work(
        (...words) => void execFileSync('openssl', words, { cwd: directory, stdio: 'pipe' }),
        (name) => join(directory, name),
      )
    } finally {
      rmSync(directory, { recursive: true })
    }
  }
  const own = make((openssl, path) => {
    const signing = ['-addext', 'keyUsage=critical,keyCertSign']
    openssl(
      'req',
      '-x509',
      ...CURVE,
      '-subj',
      '/CN=authority',
      '-days',
      '2',
      ...signing,
      '-keyout',
      'a.key',
      '-out',
      'a.pem',
    )
    return { cert: readFileSync(path('a.pem'), 'utf8'), key: readFileSync(path('a.key'), 'utf8') }
  })
  return {
    cert: own.cert,
    issue: (name, { uid } = {}) =>
      make((openssl, path) => {
        writeFileSync(path('a.pem'), own.cert)
        writeFileSync(path('a.key'), own.key)
        writeFileSync(path('ext'), `subjectAltName=DNS:${uid === undefined ? name : 'sender'}`)
        const subject = uid === undefined ? `/CN=${name}` : `/UID=${uid}/CN=${name}`
        openssl('req', ...CURVE, '-subj', subject, '-keyout', 'k.key', '-out', 'k.csr')
        const signer = ['-CA', 'a.pem', '-CAkey', 'a.key', '-CAcreateserial', '-days', '2', '-extfile', 'ext']
        openssl('x509', '-req', '-in', 'k.csr', ...signer, '-out', 'k.pem')
        return { cert: readFileSync(path('k.pem'), 'utf8'), key: readFileSync(path('k.key'), 'utf8') }
      }),
  }
}
