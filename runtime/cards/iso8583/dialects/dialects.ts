/** The dialects by name. A new dialect is one file and one row here. */
import type { IsoDialectName } from '../../../platform/settings.ts'
import type { Dialect } from '../codec/dialect.ts'
import { asciiDialect } from './ascii.ts'
import { bcdDialect } from './bcd.ts'

export const DIALECTS: Readonly<Record<IsoDialectName, Dialect>> = { ascii: asciiDialect, bcd: bcdDialect }
