/** Shows an address in the person's browser. */
import { spawn } from 'node:child_process'

type Variables = Readonly<Record<string, string | undefined>>

/** The program that opens an address, with its words; undefined where there is no screen to show it on. */
export function openerFor(
  platform: NodeJS.Platform,
  { BROWSER, DISPLAY, WAYLAND_DISPLAY, SSH_CONNECTION }: Variables,
): readonly [program: string, ...words: string[]] | undefined {
  if (BROWSER) return [BROWSER]
  // The browser that would open is in front of nobody.
  if (SSH_CONNECTION && !DISPLAY) return undefined
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return DISPLAY || WAYLAND_DISPLAY ? ['xdg-open'] : undefined
}

/** @returns whether a program was found that takes it; what that does is not waited for. */
export function openAddress(address: string): Promise<boolean> {
  const opener = openerFor(process.platform, process.env)
  if (!opener) return Promise.resolve(false)
  const [program, ...words] = opener
  return new Promise((resolve) => {
    // Without a shell: the address is one word, whatever stands in it.
    const child = spawn(program, [...words, address], { stdio: 'ignore', detached: true })
    child.once('error', () => resolve(false))
    child.once('spawn', () => resolve(true))
    child.unref()
  })
}
