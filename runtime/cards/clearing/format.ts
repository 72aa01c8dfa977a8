/** The parts of a clearing file in any format: a header, records and a trailer. */

/** Members by name, as the file has them. They are not validated. */
export type RawRecord = Readonly<Record<string, unknown>>

/** A part of the file. `bytes` are its bytes in the file; those of all parts together are the file. */
export type FilePart = { readonly bytes: Buffer } & (
  | { readonly type: 'header'; readonly header: RawRecord }
  | { readonly type: 'record'; readonly record: RawRecord }
  | { readonly type: 'trailer'; readonly trailer: RawRecord }
  /** A record that cannot be read. The issue follows the words "the line", and does not quote the line. */
  | { readonly type: 'unreadable'; readonly issue: string }
  /** Bytes of a part whose end follows. */
  | { readonly type: 'filling' }
)

/** A format of clearing files. Each is one module; `FORMATS` in formats.ts lists them. */
export interface FileFormat {
  readonly name: string
  /**
   * Reads the parts in order, in bounded memory.
   * @param bytes the header's bytes, and then the file from the end of any later part.
   */
  read(bytes: AsyncIterable<Buffer>): AsyncGenerator<FilePart>
}
