/** Which `svc` this is. A test holds it to the package's own `package.json`, which the command need not find. */
import { service } from '../../generated/client/src/2026-05-19/index.ts'

export const VERSION = { version: '0.1.0', api_version: service.version } as const
