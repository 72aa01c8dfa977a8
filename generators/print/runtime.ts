/** Where generated code finds what it needs when it runs: exports of this package, under their names. */

/** Types of tables and handlers. */
export const CONTRACT = 'dateline/runtime'

/** Values by paths of property names. */
export const PATHS = 'dateline/runtime/paths'

/** What notes which changes made a difference. */
export const TOUCHED = 'dateline/runtime/touched'
