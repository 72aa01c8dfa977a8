/** The file as a whole cannot be imported, and nothing of it is applied. The message says why and what to do. */
export class ClearingFileError extends Error {
  override name = 'ClearingFileError'
}
