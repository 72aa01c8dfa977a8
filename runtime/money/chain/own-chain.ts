/** What is known of the sandbox's own chain before it runs. */

/** Anvil's usual number (EIP-155). */
export const TEST_CHAIN_ID = 31337

/** Where its contract is: the first that its deployer has made. */
export const TEST_USDC: `0x${string}` = '0x700b6A60ce7EaaEA56F065753d8dcB9653dbAD35'

/** Who pays there where the settings name nobody: the first of anvil's accounts, whose key everybody knows. */
export const TEST_KEY: `0x${string}` = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

/** A chain's name (CAIP-2). */
export const caip2 = (chainId: number): string => `eip155:${chainId}`
