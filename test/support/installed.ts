import { execFileSync } from 'node:child_process'

/** Whether this machine has a program; without it the tests that need it are left out of the run. */
export function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false // no such program
  }
}
