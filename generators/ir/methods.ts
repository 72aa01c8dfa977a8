/** Properties of HTTP methods. */

/** Methods whose requests do not change anything (RFC 9110 §9.2.1, and QUERY). */
const READING = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'])

export const isReading = (method: string): boolean => READING.has(method)
