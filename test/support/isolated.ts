/** A network of its own for programs that listen on fixed ports: nobody else's are in the way, and nothing outside answers. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'

const UP = ['ip', 'link', 'set', 'lo', 'up']

/** Root may make one; others do so as root of a user namespace, in which they stay who they are. */
const isRoot = process.getuid?.() === 0
const MAKE = isRoot ? ['--net'] : ['--map-current-user', '--keep-caps', '--net']
const ENTER = isRoot ? ['--net'] : ['--user', '--preserve-credentials', '--net']

/** Whether this machine lets its user have one. */
export function canIsolate(): boolean {
  try {
    execFileSync('unshare', [...MAKE, ...UP], { stdio: 'ignore' })
    execFileSync('nsenter', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false // no such programs, or no such right
  }
}

export interface IsolatedNetwork {
  /** Words to put before a command that is to run in it. */
  readonly enter: readonly string[]
  /** To be called when all that runs in it has ended. */
  close(): Promise<void>
}

/** Exists for as long as its holder does, which ends with its input: also when this process dies. */
export async function openIsolatedNetwork(): Promise<IsolatedNetwork> {
  const holder = spawn('unshare', [...MAKE, 'sh', '-c', `${UP.join(' ')} && echo up && cat >/dev/null`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [said] = await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit')])
  if (String(said) !== 'up\n') throw new Error('there is no network of its own to be had')
  return {
    enter: ['nsenter', ...ENTER, '--target', String(holder.pid)],
    close: async () => {
      const ended = once(holder, 'exit')
      holder.stdin.end()
      await ended
    },
  }
}
