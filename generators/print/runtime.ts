/** Names of the package exports that generated code imports. */

/** Types of tables and handlers. */
export const CONTRACT = 'dateline/runtime'

/** Access to values by paths of property names. */
export const PATHS = 'dateline/runtime/paths'

/** Values that are not JSON values. */
export const VALUES = 'dateline/runtime/values'

/** Translates the parts of a request together. */
export const REQUESTS = 'dateline/runtime/requests'

/** Records which changes affected a value. */
export const TOUCHED = 'dateline/runtime/touched'

/** Wraps validators as Standard Schemas. */
export const STANDARD_SCHEMA = 'dateline/runtime/standard-schema'
