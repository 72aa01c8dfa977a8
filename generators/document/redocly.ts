/** The part of Redocly that `lint.ts` uses. Only this file imports it, and the published package holds it bundled. */
export { BaseResolver, createConfig, lintDocument, Source } from '@redocly/openapi-core'
