/** Opens the signer that the settings select. */
import type { SignerSettings } from '../../platform/chain-settings.ts'
import { openExternalSigner } from './external-signer.ts'
import { TEST_KEY } from './own-chain.ts'
import { checked, createKeySigner, type Signer } from './signer.ts'

/**
 * Returns a function that opens the signer on first use, and tries again if an external signer did not respond. Throws
 * `SignerUnavailable`.
 */
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
  return createKeySigner(settings.key)
}
