import * as module from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Loaded before the programs, which are TypeScript that Node runs directly. An older Node would only report the unknown
 * extension `.ts`. npm scripts use the Node in `node_modules`, which the install script of the package `node` puts
 * there.
 */
const MIN_MAJOR = 24

if (Number(process.versions.node.split('.')[0]) < MIN_MAJOR) {
  process.stderr.write(
    `error: this is Node ${process.versions.node}, but the service requires Node ${MIN_MAJOR} or newer. \`npm ci\` installs it for \`npm start\` unless install scripts are disabled: run \`npm ci --ignore-scripts=false\`, or use a newer Node\n`,
  )
  process.exit(1)
}

// Caches compiled code next to the packages, because most of the start time is compilation. If the folder is not
// writable, nothing is cached.
module.enableCompileCache?.(fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)))
