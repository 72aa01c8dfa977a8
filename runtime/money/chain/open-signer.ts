/** The signer that the settings name. */
import type { SignerSettings } from '../../platform/chain-settings.ts'
import { openExternalSigner } from './external-signer.ts'
import { readKeyFile } from './key-file.ts'
import { TEST_KEY } from './own-chain.ts'
import { checked, createKeySigner, type Signer } from './signer.ts'

/** Opened once it is needed; a signer elsewhere is asked again where it did not answer. Throws `SignerUnavailable`. */
export function openSigner(settings: SignerSettings | undefined): () => Promise<Signer> {
  let signer: Signer | undefined
  return async () => {
    signer ??= checked(await open(settings))
    return signer
  }
}

async function open(settings: SignerSettings | undefined): Promise<Signer> {
  if (!settings) return createKeySigner(TEST_KEY)
  if (settings.kind === 'external') return openExternalSigner(settings)
  return createKeySigner(settings.kind === 'key' ? settings.key : readKeyFile(settings.path))
}
