/** Writes certificates (RFC 5280) for development installations. */
import { createHash, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import { bits, boolean, explicit, integer, NOTHING, octets, oid, sequence, setOf, time, utf8 } from './der.ts'

const ATTRIBUTES = { UID: '0.9.2342.19200300.100.1.1', CN: '2.5.4.3', OU: '2.5.4.11', O: '2.5.4.10' } as const

/** Subject attributes, in order. */
export type SubjectNames = Readonly<Partial<Record<keyof typeof ATTRIBUTES, string>>>

export interface CertificateDraft {
  readonly subject: SubjectNames
  readonly publicKey: KeyObject
  /** For a root, the certificate itself. The key must be RSA. */
  readonly issuer: { readonly subject: SubjectNames; readonly key: KeyObject }
  /** Whether it is a certificate authority. */
  readonly isAuthority: boolean
  /** Names of a server, for clients that compare them with the address that they connect to. */
  readonly server?: { readonly dns: string; readonly ipv4: readonly [number, number, number, number] }
  /** Milliseconds since the epoch. */
  readonly from: number
  readonly to: number
}

const SHA256_WITH_RSA = sequence(oid('1.2.840.113549.1.1.11'), NOTHING)

/** Creates and signs a certificate. Returns PEM. */
export function writeCertificate(draft: CertificateDraft): string {
  const { subject, issuer, publicKey, from, to } = draft
  const serial = randomBytes(16)
  serial[0] = (serial[0]! & 0x3f) | 0x40 // positive, and always 16 bytes long
  const toBeSigned = sequence(
    explicit(0, integer(Buffer.of(2))),
    integer(serial),
    SHA256_WITH_RSA,
    nameOf(issuer.subject),
    sequence(time(from), time(to)),
    nameOf(subject),
    spkiOf(publicKey),
    explicit(3, sequence(...extensionsOf(draft))),
  )
  const signature = sign('sha256', toBeSigned, issuer.key)
  const base64 = sequence(toBeSigned, SHA256_WITH_RSA, bits(signature)).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{64}/g, '$&\n').trimEnd()}\n-----END CERTIFICATE-----\n`
}

function nameOf(names: SubjectNames): Buffer {
  const parts = Object.entries(names) as [keyof typeof ATTRIBUTES, string][]
  return sequence(...parts.map(([name, value]) => setOf(sequence(oid(ATTRIBUTES[name]), utf8(value)))))
}

function spkiOf(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' })
}

function keyIdOf(key: KeyObject): Buffer {
  return createHash('sha1').update(spkiOf(key)).digest()
}

/** GeneralNames of a server (4.2.1.6): dNSName has the tag 2, iPAddress 7. */
function alternativeNames({ dns, ipv4 }: NonNullable<CertificateDraft['server']>): Buffer {
  return sequence(Buffer.from([0x82, dns.length]), Buffer.from(dns), Buffer.from([0x87, 4, ...ipv4]))
}

function extensionsOf({ isAuthority, publicKey, issuer, server }: CertificateDraft): Buffer[] {
  const authorityKeyId = Buffer.concat([Buffer.of(0x80, 20), keyIdOf(createPublicKey(issuer.key))])
  // keyCertSign and cRLSign for an authority, otherwise digitalSignature (4.2.1.3).
  const usage = isAuthority ? bits(Buffer.of(0x06), 1) : bits(Buffer.of(0x80), 7)
  return [
    extension('2.5.29.19', true, isAuthority ? sequence(boolean(true)) : sequence()),
    extension('2.5.29.15', true, usage),
    extension('2.5.29.14', false, octets(keyIdOf(publicKey))),
    extension('2.5.29.35', false, sequence(authorityKeyId)),
    ...(server ? [extension('2.5.29.17', false, alternativeNames(server))] : []),
  ]
}

function extension(id: string, isCritical: boolean, value: Buffer): Buffer {
  return sequence(oid(id), ...(isCritical ? [boolean(true)] : []), octets(value))
}
