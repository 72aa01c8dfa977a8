import { createHash } from 'node:crypto'
import { languageOf, stringsOf } from '../languages.ts'
import type { PassState } from '../pass-state.ts'
import { signDetached, signerParts } from './cms.ts'
import { createImages, fileOf, type Images } from './images.ts'
import { passJson } from './pass-json.ts'
import type { AppleSigner } from './signer.ts'
import { zip } from './zip.ts'

export interface PassBuilder {
  /** Builds the .pkpass file. Every process produces the same bytes for the same state. */
  build(state: PassState): Promise<Buffer>
  /** Identifies everything that affects files apart from the state: the signer and the file format of this program. */
  readonly fingerprint: string
}

/**
 * Increase the number if a code change alters the files of a state. A different zlib version may compress images
 * differently.
 */
const FORMAT = `1 zlib ${process.versions.zlib}`

/**
 * Creates a builder of Apple Wallet files (Apple, "Building a Pass"): pass.json, images, a manifest of their hashes,
 * and the signature of the manifest.
 *
 * @param sign signs with RSASSA-PKCS1-v1_5 and SHA-256, outside the event loop.
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
      const strings = stringsOf(state)
      const illustrated = Object.keys(state.options?.images ?? {})
      const languages = new Set([languageOf(state), ...strings.keys(), ...illustrated])
      const files = [
        fileOf('pass.json', Buffer.from(passJson(state, signer.passType))),
        ...(await images.filesOf(state, [...languages])),
        ...[...strings].map(([language, texts]) =>
          fileOf(`${language}.lproj/pass.strings`, Buffer.from(writeStrings(texts))),
        ),
      ]
      const hashes = Object.fromEntries(files.map(({ name, sha1 }) => [name, sha1]))
      const manifest = Buffer.from(JSON.stringify(hashes))
      // The signing time must not be before the start of the certificate, even if the pass is older.
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

/** Writes a strings file (Apple, "Creating the source for a pass"): each text, and its translation. */
function writeStrings(strings: ReadonlyMap<string, string>): string {
  return [...strings].map(([text, translation]) => `${quote(text)} = ${quote(translation)};\n`).join('')
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function quote(text: string): string {
  return `"${text.replaceAll(/["\\\n\r\t]/g, (each) => ESCAPES[each] ?? `\\${each}`)}"`
}
