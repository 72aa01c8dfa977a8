import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A client certificate with its private key, in PEM format. */
export interface ClientCertificate {
  readonly cert: string
  readonly key: string
  readonly file: string
}

/** Creates a self-signed certificate as a processor does, with the openssl command. */
export function makeCertificate(directory: string, name: string, subject = `/CN=${name}`): ClientCertificate {
  const [file, key] = [join(directory, `${name}.crt`), join(directory, `${name}.key`)]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const life = ['-days', '30', '-subj', subject]
  execFileSync('openssl', ['req', '-x509', ...curve, '-keyout', key, '-out', file, ...life], {
    stdio: 'pipe',
  })
  return { cert: readFileSync(file, 'utf8'), key: readFileSync(key, 'utf8'), file }
}
