/**
 * Compression of answers that are the same for everybody: documentation, style sheet, scripts. Pages of the dashboard hold
 * what a member typed beside secrets of theirs, whose lengths compression would tell (CVE-2013-3587), and go as they are.
 */
import compression from 'compression'

/** Brotli, gzip or neither, as the request says; what fits into a packet goes as it is. */
export const compress = compression()
