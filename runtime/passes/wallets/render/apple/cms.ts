import { createHash, type X509Certificate } from 'node:crypto'
import { explicit, integer, NOTHING, octets, oid, partsOf, sequence, setOf, time } from './der.ts'

const OIDS = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  sha256: '2.16.840.1.101.3.4.2.1',
  rsa: '1.2.840.113549.1.1.1',
} as const

const SHA256 = sequence(oid(OIDS.sha256), NOTHING)
const RSA = sequence(oid(OIDS.rsa), NOTHING)
const ONE = integer(Buffer.of(1))

/** The parts that all signatures of a signer share. */
export interface SignerParts {
  /** Issuer and serial number, copied from the encoded certificate. */
  readonly identifier: Buffer
  /** The signer's certificate and its intermediates, without the root. */
  readonly certificates: Buffer
}

/** Extracts the parts from a certificate chain. @param chain the signer's certificate first. */
export function signerParts(chain: readonly [X509Certificate, ...X509Certificate[]]): SignerParts {
  const [toBeSigned] = partsOf(chain[0].raw)
  const fields = partsOf(toBeSigned!)
  // If the version is not the default, it comes first, in a context-specific tag (RFC 5280, 4.1).
  const [serial, , issuer] = fields[0]![0] === 0xa0 ? fields.slice(1) : fields
  return {
    identifier: sequence(issuer!, serial!),
    certificates: explicit(0, ...chain.map(({ raw }) => raw).toSorted(Buffer.compare)),
  }
}

/**
 * Creates a detached signature (RFC 5652) with RSA and SHA-256. The same content, time and key produce the same bytes,
 * because RSASSA-PKCS1-v1_5 is deterministic.
 *
 * @param at signing time in milliseconds since the epoch.
 * @param sign signs bytes with RSASSA-PKCS1-v1_5 and SHA-256.
 */
export async function signDetached(
  content: Buffer,
  at: number,
  signer: SignerParts,
  sign: (bytes: Buffer) => Promise<Buffer>,
): Promise<Buffer> {
  const attributes = setOf(
    attribute(OIDS.contentType, oid(OIDS.data)),
    attribute(OIDS.signingTime, time(at)),
    attribute(OIDS.messageDigest, octets(createHash('sha256').update(content).digest())),
  )
  const signature = await sign(attributes)
  // Signed with the tag SET, but sent with the tag [0] (RFC 5652, 5.4).
  const sent = Buffer.concat([Buffer.of(0xa0), attributes.subarray(1)])
  const signerInfo = sequence(ONE, signer.identifier, SHA256, sent, RSA, octets(signature))
  const signedData = sequence(
    ONE,
    setOf(SHA256),
    sequence(oid(OIDS.data)),
    signer.certificates,
    setOf(signerInfo),
  )
  return sequence(oid(OIDS.signedData), explicit(0, signedData))
}

function attribute(type: string, value: Buffer): Buffer {
  return sequence(oid(type), setOf(value))
}
