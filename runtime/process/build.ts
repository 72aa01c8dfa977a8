import { fileURLToPath } from 'node:url'
import { ensureBuilt } from 'dateline/build'

const CONFIG = fileURLToPath(new URL('../../dateline.config.json', import.meta.url))

/** Makes what is served and not committed, as the toolkit's configuration says, where it is missing. */
export const build = (output: 'documents' | 'site'): Promise<void> => ensureBuilt(CONFIG, [output])
