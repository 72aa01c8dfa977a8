/** Opens an address in the user's browser. */
import { spawn } from 'node:child_process'

type Variables = Readonly<Record<string, string | undefined>>

/** Returns the program that opens an address, with its arguments; undefined if there is no display. */
export function openerFor(
  platform: NodeJS.Platform,
  { BROWSER, DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION }: Variables,
): readonly [program: string, ...words: string[]] | undefined {
  if (BROWSER) return [BROWSER]
  // Over SSH, the browser would open on the remote machine.
  if (SSH_CONNECTION && !DISPLAY) return undefined
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return DISPLAY || WAYLAND_DISPLAY ? ['xdg-open'] : undefined
}

/** Starts a program that opens the address, without waiting for it to end. Returns whether the program was found. */
export function openAddress(address: string): Promise<boolean> {
  const opener = openerFor(process.platform, process.env)
  if (!opener) return Promise.resolve(false)
  const [program, ...words] = opener
  return new Promise((resolve) => {
    // No shell, so special characters in the address are harmless.
    const child = spawn(program, [...words, address], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => resolve(true))
    child.unref()
  })
}
