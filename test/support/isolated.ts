/**
 * A separate network namespace for programs that listen on fixed ports. Ports of other programs do not conflict, and no
 * outside address is reachable.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'

const UP = ['ip', 'link', 'set', 'lo', 'up']

/**
 * Root can create a network namespace directly. Other users create it inside a user namespace and keep their user ID.
 */
const isRoot = process.getuid?.() === 0
const MAKE = isRoot ? ['--net'] : ['--map-current-user', '--keep-caps', '--net']
const ENTER = isRoot ? ['--net'] : ['--user', '--preserve-credentials', '--net']

/** Whether the user may create such a network on this machine. */
export function canIsolate(): boolean {
  try {
    execFileSync('unshare', [...MAKE, ...UP], { stdio: 'ignore' })
    execFileSync('nsenter', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false // the programs or the permission are missing
  }
}

export interface IsolatedNetwork {
  /** Command prefix that runs a command inside the network. */
  readonly enter: readonly string[]
  /** Closes the network. Call it after everything inside has ended. */
  close(): Promise<void>
}

/**
 * Opens a network that exists until its holder process ends. The holder ends when its input closes, which also happens
 * when this process dies.
 */
export async function openIsolatedNetwork(): Promise<IsolatedNetwork> {
  const holder = spawn('unshare', [...MAKE, 'sh', '-c', `${UP.join(' ')} && echo up && cat >/dev/null`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [said] = await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit')])
  if (String(said) !== 'up\n') throw new Error('cannot create an isolated network on this machine')
  return {
    enter: ['nsenter', ...ENTER, '--target', String(holder.pid)],
    close: async () => {
      const ended = once(holder, 'exit')
      holder.stdin.end()
      await ended
    },
  }
}
