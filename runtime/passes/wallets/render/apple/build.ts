import { createHash } from 'node:crypto'
import type { PassState } from '../pass-state.ts'
import { signDetached, signerParts } from './cms.ts'
import { createImages, fileOf, type Images } from './images.ts'
import { passJson } from './pass-json.ts'
import type { AppleSigner } from './signer.ts'
import { zip } from './zip.ts'

export interface PassBuilder {
  /** The .pkpass of a state: the same bytes for the same state, whichever process makes it. */
  build(state: PassState): Promise<Buffer>
  /** Stands for all but the state that files follow from: who signs, and how this program makes them. */
  readonly fingerprint: string
}

/** To be raised when the files of a state become others. Another zlib may pack images otherwise. */
const FORMAT = `1 zlib ${process.versions.zlib}`

/**
 * Builds files for Apple Wallet (Apple, "Building a Pass"): pass.json, images, a manifest of their hashes, and its signature.
 *
 * @param sign signs as RSASSA-PKCS1-v1_5 with SHA-256, beside the event loop.
 */
export function createPassBuilder(
  signer: AppleSigner,
  sign: (bytes: Buffer) => Promise<Buffer> = signer.sign,
  images: Images = createImages(),
): PassBuilder {
  const [certificate] = signer.chain
  const parts = signerParts(signer.chain)
  return {
    fingerprint: createHash('sha256')
      .update(`${FORMAT} ${signer.chain.map(({ fingerprint256 }) => fingerprint256).join(' ')}`)
      .digest('base64url'),
    async build(state) {
      const files = [
        fileOf('pass.json', Buffer.from(passJson(state, signer.passType))),
        ...(await images.filesOf(state)),
      ]
      const hashes = Object.fromEntries(files.map(({ name, sha1 }) => [name, sha1]))
      const manifest = Buffer.from(JSON.stringify(hashes))
      // Nothing is signed before the certificate was there, though the pass may be older.
      const at = Math.max(state.changed, certificate.validFromDate.getTime())
      const signature = await signDetached(manifest, at, parts, sign)
      return zip([
        ...files,
        { name: 'manifest.json', content: manifest },
        { name: 'signature', content: signature },
      ])
    },
  }
}
