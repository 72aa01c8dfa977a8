import type { UsdcChain } from '../api/handler.ts'
import type { Environment } from '../platform/environment.ts'

/** Where USDC is paid: on a chain for tests, and on Base, where Circle's contract is (Circle, "USDC contract addresses"). */
export const USDC_CHAINS: Readonly<Record<Environment, UsdcChain>> = {
  sandbox: { id: 'eip155:31337', contract: '0x5FbDB2315678afecb367f032d93F642f64180aa3' },
  live: { id: 'eip155:8453', contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' },
}
