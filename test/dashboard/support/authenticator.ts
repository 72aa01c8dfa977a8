/** A device that keeps one passkey (WebAuthn, Level 3): real keys and signatures, no person. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

const base64url = (bytes: Buffer) => bytes.toString('base64url')
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest()

/** What a page asks for; both kinds of options have a challenge. */
export interface Options {
  readonly challenge: string
  readonly rp?: { readonly id: string }
  readonly rpId?: string
  readonly user?: { readonly id: string }
}

/** What the form's script gives the browser. */
export function optionsIn(text: string): Options {
  const [, options] = /data-passkey="([^"]+)"/.exec(text) ?? []
  if (options === undefined) throw new Error('the page wants no passkey')
  return JSON.parse(options.replaceAll('&quot;', '"')) as Options
}

/** What the device, or whoever holds it, does otherwise than it should. */
export interface Faults {
  readonly origin?: string
  readonly rpId?: string
  readonly challenge?: string
  readonly userHandle?: string
  readonly type?: string
  /** Nobody was asked for a finger or a PIN. */
  readonly unverified?: boolean
  readonly counter?: number
}

const PRESENT = 0x01
const VERIFIED = 0x04
const HAS_KEY = 0x40

export class Authenticator {
  readonly #origin: string
  readonly #keys: { readonly publicKey: KeyObject; readonly privateKey: KeyObject }
  readonly #id = randomBytes(16)
  #counter = 0
  #user = ''

  constructor(origin: string) {
    this.#origin = origin
    this.#keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  }

  /** As `navigator.credentials.create` answers, in JSON. */
  create(options: Options, faults: Faults = {}): string {
    this.#user = options.user?.id ?? ''
    const { x, y } = this.#keys.publicKey.export({ format: 'jwk' })
    const coordinate = (text = '') => Buffer.concat([Buffer.of(0x58, 32), Buffer.from(text, 'base64url')])
    // COSE: kty EC2, alg ES256, crv P-256, x, y.
    const key = Buffer.concat([
      Buffer.from('a5010203262001', 'hex'),
      Buffer.of(0x21),
      coordinate(x),
      Buffer.of(0x22),
      coordinate(y),
    ])
    const made = [Buffer.alloc(16), Buffer.of(0, this.#id.length), this.#id, key]
    const data = Buffer.concat([this.#authenticatorData(options, faults, HAS_KEY), ...made])
    // CBOR of { fmt: 'none', attStmt: {}, authData }.
    const head = Buffer.concat([
      Buffer.from('a363666d74646e6f6e656761747453746d74a0686175746844617461', 'hex'),
    ])
    const attestation = Buffer.concat([head, Buffer.of(0x58, data.length), data])
    return this.#answer({
      clientDataJSON: base64url(this.#clientData('webauthn.create', options, faults)),
      attestationObject: base64url(attestation),
      transports: ['internal'],
    })
  }

  /** As `navigator.credentials.get` answers, in JSON. */
  get(options: Options, faults: Faults = {}): string {
    this.#counter = faults.counter ?? this.#counter + 1
    const clientData = this.#clientData('webauthn.get', options, faults)
    const data = this.#authenticatorData(options, faults, 0)
    const signature = sign('sha256', Buffer.concat([data, sha256(clientData)]), this.#keys.privateKey)
    return this.#answer({
      clientDataJSON: base64url(clientData),
      authenticatorData: base64url(data),
      signature: base64url(signature),
      userHandle: faults.userHandle ?? this.#user,
    })
  }

  #answer(response: object): string {
    const id = base64url(this.#id)
    return JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response })
  }

  #clientData(type: string, { challenge }: Options, faults: Faults): Buffer {
    const said = {
      type: faults.type ?? type,
      challenge: faults.challenge ?? challenge,
      origin: faults.origin ?? this.#origin,
      crossOrigin: false,
    }
    return Buffer.from(JSON.stringify(said))
  }

  #authenticatorData({ rp, rpId }: Options, faults: Faults, more: number): Buffer {
    const flags = PRESENT | (faults.unverified ? 0 : VERIFIED) | more
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(this.#counter)
    return Buffer.concat([sha256(faults.rpId ?? rpId ?? rp?.id ?? ''), Buffer.of(flags), counter])
  }
}
