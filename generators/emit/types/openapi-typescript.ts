/** The part of openapi-typescript that `types.ts` uses. Only this file imports it, and the published package holds it bundled. */
export type { OpenAPI3 } from 'openapi-typescript'
export {
  astToString,
  NEVER,
  NULL,
  resolveRef,
  STRING,
  scanDiscriminators,
  transformSchema,
  tsLiteral,
  tsRecord,
  tsUnion,
} from 'openapi-typescript'
