import { execFileSync } from 'node:child_process'

/** Whether the machine has a program. Tests that need a missing one are left out of the run. */
export function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false // no such program
  }
}
