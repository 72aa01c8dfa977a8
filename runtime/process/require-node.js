import * as module from 'node:module'
import { fileURLToPath } from 'node:url'

/**
 * Loaded before the programs, which are TypeScript that Node runs as it is. An older Node would only say that it knows no
 * `.ts`. npm scripts run on the Node in `node_modules`, which the package `node` puts there when its install script runs.
 */
const MIN_MAJOR = 24

if (Number(process.versions.node.split('.')[0]) < MIN_MAJOR) {
  process.stderr.write(
    `error: this is Node ${process.versions.node}, and the service needs Node ${MIN_MAJOR} or newer. \`npm ci\` installs one for \`npm start\`, unless install scripts are turned off: run \`npm ci --ignore-scripts=false\`, or start with a newer Node\n`,
  )
  process.exit(1)
}

// Compiled once and kept beside the packages: most of a start is compiling. Where nothing can be written there, nothing is kept.
module.enableCompileCache?.(fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)))
