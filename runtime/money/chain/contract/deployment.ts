import { type Address, concat, type Hex, padHex } from 'viem'
import compiled from './test-usdc.json' with { type: 'json' }

/** The account that can upgrade the test contract, and nothing else: the last but one of anvil's default accounts. */
export const PROXY_ADMIN: Address = '0x23618e81E3f5cdF7f54C3d65f7FBc0aBf5B21E8f'

/** The code that deploys the test contract behind its proxy. The deployer gets every role of the token. */
export const DEPLOYMENT: Hex = concat([compiled.bytecode as Hex, padHex(PROXY_ADMIN, { size: 32 })])
