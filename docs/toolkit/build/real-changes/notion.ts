import type { RealChange } from './real-change.ts'

const vendor = 'Notion'

/**
 * From developers.notion.com/reference/changes-by-version, the changelog entries and the upgrade guides that it links. The old shape of a
 * relation is from docs.rs/notion-sdk/0.0.0; the search filter is from makenotion/notion-sdk-js#602.
 */
export const NOTION: readonly RealChange[] = [
  {
    vendor,
    date: '2021-05-13',
    what: 'Rich text properties have the type `rich_text`, not `text`, and their values are under that name.',
    schemas: `
 PropertyValue:
   type: object
   required: [type]
   properties:
-    type: { type: string, enum: [text] }
-    text: { type: array, items: { type: string } }
+    type: { type: string, enum: [rich_text] }
+    rich_text: { type: array, items: { type: string } }
`,
    lens: `v.valuesOf(['PropertyValue'], 'type', { rename: { text: 'rich_text' } }),
v.rename(['PropertyValue'], 'text', 'rich_text')`,
    values: [{ old: { type: 'text', text: ['Hi'] }, new: { type: 'rich_text', rich_text: ['Hi'] } }],
  },
  {
    vendor,
    date: '2021-08-16',
    what: 'Types in rollups are `files`, `rich_text` and `people`, not `file`, `text` and `person`.',
    schemas: `
 Rollup:
   type: object
   properties:
     array: { type: array, items: { $ref: "#/components/schemas/RollupItem" } }
 RollupItem:
   type: object
   properties:
-    type: { type: string, enum: [file, text, person] }
+    type: { type: string, enum: [files, rich_text, people] }
`,
    use: 'response',
    lens: `v.valuesOf(['RollupItem'], 'type', {
  rename: { file: 'files', text: 'rich_text', person: 'people' },
})`,
    values: [{ old: { array: [{ type: 'person' }] }, new: { array: [{ type: 'people' }] } }],
  },
  {
    vendor,
    date: '2021-08-16',
    what: 'Appending children returns the list of new blocks, not the parent block.',
    reason: 'The parent is not part of the new response; the handler must load it.',
  },
  {
    vendor,
    date: '2022-02-22',
    what: '`text` of blocks became `rich_text`.',
    schemas: `
 Block:
   type: object
   properties:
     paragraph: { $ref: "#/components/schemas/BlockText" }
     to_do: { $ref: "#/components/schemas/BlockText" }
 BlockText:
   type: object
   properties:
-    text: { type: array, items: { type: string } }
+    rich_text: { type: array, items: { type: string } }
     children: { type: array, items: { $ref: "#/components/schemas/Block" } }
`,
    lens: `v.rename(['BlockText'], 'text', 'rich_text')`,
    values: [
      {
        old: { to_do: { text: ['a'], children: [{ paragraph: { text: ['b'] } }] } },
        new: { to_do: { rich_text: ['a'], children: [{ paragraph: { rich_text: ['b'] } }] } },
      },
    ],
  },
  {
    vendor,
    date: '2022-06-28',
    what: 'Database relations have a type, and the synced property of a two-way relation moved into `dual_property`.',
    schemas: `
 Relation:
   type: object
   required: [database_id]
   properties:
     database_id: { type: string }
-    synced_property_id: { type: string }
-    synced_property_name: { type: string }
+    dual_property:
+      type: object
+      properties:
+        synced_property_id: { type: string }
+        synced_property_name: { type: string }
`,
    lens: `v.moved(['Relation'], ['synced_property_id'], ['dual_property', 'synced_property_id']),
v.moved(['Relation'], ['synced_property_name'], ['dual_property', 'synced_property_name'])`,
    values: [
      {
        old: { database_id: 'd', synced_property_id: 'p', synced_property_name: 'Tasks' },
        new: { database_id: 'd', dual_property: { synced_property_id: 'p', synced_property_name: 'Tasks' } },
      },
    ],
  },
  {
    vendor,
    date: '2022-06-28',
    what: '`parent` is always the direct parent, which can be a block.',
    reason: 'The response does not name the page or database; the handler must find it for old callers.',
  },
  {
    vendor,
    date: '2025-09-03',
    what: 'The search filter value `database` became `data_source`.',
    schemas: `
 Search:
   type: object
   properties:
     filter:
       type: object
       properties:
         property: { type: string }
-        value: { type: string, enum: [page, database] }
+        value: { type: string, enum: [page, data_source] }
`,
    use: 'request',
    lens: `v.valuesOf([v.inside('Search', 'filter')], 'value', { rename: { database: 'data_source' } })`,
    values: [{ old: { filter: { value: 'database' } }, new: { filter: { value: 'data_source' } } }],
  },
  {
    vendor,
    date: '2025-09-03',
    what: 'A query takes the ID of a data source, not of its database.',
    reason: 'Data sources have their own IDs; the handler must look them up.',
  },
  {
    vendor,
    date: '2026-03-11',
    what: '`after` of appended children became a `position` object: `after_block`, `start` or `end`.',
    schemas: `
 AppendChildren:
   type: object
   properties:
-    after: { type: string }
+    position:
+      oneOf:
+        - { $ref: "#/components/schemas/AfterBlock" }
+        - { $ref: "#/components/schemas/AtEdge" }
+AfterBlock:
+  type: object
+  required: [type, after_block]
+  properties:
+    type: { const: after_block }
+    after_block:
+      type: object
+      required: [id]
+      properties:
+        id: { type: string }
+AtEdge:
+  type: object
+  required: [type]
+  properties:
+    type: { type: string, enum: [start, end] }
`,
    use: 'request',
    lens: `v.rename(['AppendChildren'], 'after', 'position', {
  up: (id) => ({ type: 'after_block', after_block: { id } }),
  down: (position) => (position.type === 'after_block' ? position.after_block.id : ''),
  loss: 'drop',
})`,
    values: [
      { old: { after: 'b-1' }, new: { position: { type: 'after_block', after_block: { id: 'b-1' } } } },
      { old: {}, new: {} },
    ],
  },
  {
    vendor,
    date: '2026-03-11',
    what: '`archived` of pages, databases, blocks and data sources became `in_trash`.',
    schemas: `
 Page:
   type: object
   properties:
-    archived: { type: boolean }
+    in_trash: { type: boolean }
`,
    lens: `v.rename(['Page'], 'archived', 'in_trash')`,
    values: [{ old: { archived: true }, new: { in_trash: true } }],
  },
  {
    vendor,
    date: '2026-03-11',
    what: 'The block type `transcription` became `meeting_notes`.',
    schemas: `
 Block:
   oneOf:
     - { $ref: "#/components/schemas/Paragraph" }
     - { $ref: "#/components/schemas/Notes" }
 Paragraph:
   type: object
   required: [type]
   properties:
     type: { const: paragraph }
     paragraph: { type: string }
 Notes:
   type: object
   required: [type]
   properties:
-    type: { type: string, enum: [transcription] }
-    transcription: { type: string }
+    type: { type: string, enum: [meeting_notes] }
+    meeting_notes: { type: string }
`,
    use: 'response',
    lens: `v.valuesOf(['Notes'], 'type', { rename: { transcription: 'meeting_notes' } }),
v.rename(['Notes'], 'transcription', 'meeting_notes')`,
    values: [
      {
        old: { type: 'transcription', transcription: 'Hello' },
        new: { type: 'meeting_notes', meeting_notes: 'Hello' },
      },
      { old: { type: 'paragraph', paragraph: 'a' }, new: { type: 'paragraph', paragraph: 'a' } },
    ],
  },
]
