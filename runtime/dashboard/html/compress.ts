/**
 * Compresses public responses: documentation, style sheets, and scripts. Dashboard pages are not compressed, because they contain
 * both user input and secrets: the compressed size could reveal the secrets (BREACH, CVE-2013-3587).
 */
import compression from 'compression'

/** Uses Brotli or gzip, as the request accepts. Responses below 1 KB are not compressed. */
export const compress = compression()
