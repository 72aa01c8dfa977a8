import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

type Variables = Readonly<Record<string, string | undefined>>

/**
 * Returns the configuration folder: below `XDG_CONFIG_HOME` if it is an absolute path (the XDG Base Directory Specification
 * ignores relative ones), otherwise in the standard location of the system.
 */
export function configFolder(env: Variables, platform: NodeJS.Platform = process.platform): string {
  const { XDG_CONFIG_HOME: xdg, APPDATA: roaming } = env
  if (xdg && isAbsolute(xdg)) return join(xdg, 'svc')
  const home = env.HOME || homedir()
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'svc')
  if (platform === 'win32') return join(roaming || join(home, 'AppData', 'Roaming'), 'svc')
  return join(home, '.config', 'svc')
}
