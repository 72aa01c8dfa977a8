/** Compiles the contracts of the test chain; run by itself, writes what is committed of them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import solc from 'solc'

const FOLDER = join(import.meta.dirname, '../../../runtime/money/chain/contract')

/** Where the bytecode is committed. */
export const COMPILED = join(FOLDER, 'test-usdc.json')

/** The same on every machine: nothing of the compiler's surroundings is part of the bytecode. */
const SETTINGS = {
  evmVersion: 'paris',
  optimizer: { enabled: true, runs: 200 },
  metadata: { bytecodeHash: 'none', appendCBOR: false },
}

/** The text of `test-usdc.json`. Throws what the compiler finds, warnings too. */
export function compileContract(): string {
  const file = 'TestUsdc.sol'
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: readFileSync(join(FOLDER, file), 'utf8') } },
    settings: { ...SETTINGS, outputSelection: { '*': { '*': ['evm.bytecode.object'] } } },
  }
  const output = JSON.parse(solc.compile(JSON.stringify(input)))
  if (output.errors) throw new Error(JSON.stringify(output.errors))
  const bytecodeOf = (name: string) => `0x${output.contracts[file][name].evm.bytecode.object}`
  const bytecode = bytecodeOf('TestUsdcProxy')
  const next = bytecodeOf('TestUsdcNext')
  return `${JSON.stringify({ compiler: solc.version(), settings: SETTINGS, bytecode, next }, null, 2)}\n`
}

if (import.meta.main) writeFileSync(COMPILED, compileContract())
