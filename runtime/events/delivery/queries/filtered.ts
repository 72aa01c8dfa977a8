/**
 * Returns the condition that an event matches every filter of an endpoint: `data` in canonical form, by path. A missing property is
 * null. PostgreSQL cannot hold U+0000 in text, so it is left out of what is compared.
 *
 * @param w alias of the endpoint. @param e alias of the event.
 */
export function matchesFilters(w: string, e: string): string {
  return `(${w}.filters IS NULL OR NOT EXISTS (
    SELECT FROM json_to_recordset(${w}.filters) AS f (property text, equals jsonb)
     WHERE NOT f.equals @> jsonb_build_array(replace(
             (coalesce(${e}.source, ${e}.body::json) #> string_to_array(f.property, '.'))::text, '\\u0000', '')::jsonb)))`
}
