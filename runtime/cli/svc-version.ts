/** The version of `svc`. A test checks it against `package.json`, so that the command need not read the file. */
import { service } from '../../generated/client/src/2026-05-19/index.ts'

export const VERSION = { version: '0.1.0', api_version: service.version } as const
