import { statSync } from 'node:fs'
import { withSecretFiles } from '../../platform/secret-files.ts'
import type { SettingVariables } from '../../platform/setting-catalog.ts'
import { type Finding, warn } from './finding.ts'

/** File mode bit: users other than the owner and its group can read the file. */
const OTHERS_READ = 0o004

/** Warns about each secret in a file that every user of the machine can read. Windows has no such modes. */
export function checkSecretFiles(env: SettingVariables): Finding[] {
  return [...withSecretFiles(env).files].flatMap(([name, path]) => {
    const mode = process.platform === 'win32' ? 0 : statSync(path).mode
    if ((mode & OTHERS_READ) === 0) return []
    const shown = (mode & 0o777).toString(8).padStart(4, '0')
    return [
      warn(
        `${name}_FILE`,
        `${path} is readable by all users (mode ${shown}): run chmod o-r, or protect its folder`,
      ),
    ]
  })
}
