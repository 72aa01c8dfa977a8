import { fileURLToPath } from 'node:url'
import { ensureBuilt } from 'dateline/build'

const CONFIG = fileURLToPath(new URL('../../dateline.config.json', import.meta.url))

/** Builds output that is served but not committed, if it is missing. `dateline.config.json` configures it. */
export const build = (output: 'documents' | 'site'): Promise<void> => ensureBuilt(CONFIG, [output])
