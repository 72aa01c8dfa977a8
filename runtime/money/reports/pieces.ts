/** Files of reports, as writers produce them and tables store them: in pieces. */
import type { ReportFormat } from '../../tenants/addresses/report-links.ts'
import type { WrittenFile } from './queries.ts'
import type { ReportLine } from './rows.ts'

/** A piece of a file. */
export interface Piece {
  readonly format: ReportFormat
  /** Index of the piece within the file, from 0. */
  readonly position: number
  readonly content: Buffer
}

export interface FileWriter {
  add(rows: readonly ReportLine[]): void
  /** Returns the text written since the last piece, once it is long enough for a new piece. */
  takePiece(): Piece | undefined
  /** Returns the last piece and the description of the whole file. No rows can be added afterwards. */
  end(): EndedFile | Promise<EndedFile>
}

export interface EndedFile {
  readonly piece: Piece
  readonly file: WrittenFile
}
