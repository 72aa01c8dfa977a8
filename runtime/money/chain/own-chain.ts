/** Constants of the sandbox's built-in test chain. */

/** Anvil's default chain ID (EIP-155). */
export const TEST_CHAIN_ID = 31337

/** Address of the USDC contract: the first contract that its deployer creates. */
export const TEST_USDC: `0x${string}` = '0x700b6A60ce7EaaEA56F065753d8dcB9653dbAD35'

/** Key of the paying account if the settings contain none: the first anvil account, whose key is publicly known. */
export const TEST_KEY: `0x${string}` = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

/** Returns a chain's CAIP-2 name. */
export const caip2 = (chainId: number): string => `eip155:${chainId}`
