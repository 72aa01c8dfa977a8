import { execFileSync } from 'node:child_process'

/** Whether this machine has a redis-server; without one the tests that need it are left out of the run. */
export function hasRedisServer(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false // no such program
  }
}
