/** Pairs of documents to start from. */
import { LENS_EXAMPLES } from '../build/lens-examples.ts'
import { documentsOf } from '../build/run-example.ts'

export interface PlaygroundExample {
  readonly title: string
  readonly old: string
  readonly next: string
}

const BOOKS = documentsOf({
  paths: `
 /books:
   get:
     operationId: listBooks
     parameters:
-      - { name: q, in: query, schema: { type: string }, example: emma }
+      - { name: search, in: query, schema: { type: string }, example: emma }
     responses:
       "200":
         description: The books
         content:
           application/json:
             schema:
               type: object
               required: [data]
               properties:
                 data: { type: array, items: { $ref: "#/components/schemas/Book" } }
   post:
     operationId: createBook
     requestBody:
       required: true
       content:
         application/json:
           schema: { $ref: "#/components/schemas/BookCreate" }
     responses:
       "201":
         description: The book
         content:
           application/json:
             schema: { $ref: "#/components/schemas/Book" }
       4XX:
         description: The request failed
         content:
           application/json:
             schema: { $ref: "#/components/schemas/Error" }
`,
  webhooks: `
 book.created:
   post:
     requestBody:
       content:
         application/json:
           schema: { $ref: "#/components/schemas/Book" }
     responses:
       "204": { description: OK }
`,
  schemas: `
 BookCreate:
   type: object
-  required: [title]
+  required: [name, format]
   properties:
-    title: { type: string, examples: [Emma] }
+    name: { type: string, examples: [Emma] }
-    format: { type: string, enum: [paper, audio] }
+    format: { type: string, enum: [print, audio] }
 Book:
   type: object
-  required: [id, title, author_name]
+  required: [id, name, author]
   properties:
     id: { type: string, examples: [book_1] }
-    title: { type: string, examples: [Emma] }
+    name: { type: string, examples: [Emma] }
-    format: { type: string, enum: [paper, audio] }
+    format: { type: string, enum: [print, audio] }
-    author_name: { type: string, examples: [Jane Austen] }
+    author:
+      type: object
+      required: [name]
+      properties:
+        name: { type: string, examples: [Jane Austen] }
 Error:
   type: object
-  required: [title]
+  required: [message]
   properties:
-    title: { type: string, examples: [The book exists.] }
+    message: { type: string, examples: [The book exists.] }
`,
})

/** By name, which a link can contain: `#example=books`. The first is shown at the start. */
export const EXAMPLES: ReadonlyMap<string, PlaygroundExample> = new Map([
  ['books', { title: 'Books: a version with several breaking changes', old: BOOKS[0], next: BOOKS[1] }],
  ...Object.entries(LENS_EXAMPLES).map(([name, example]): [string, PlaygroundExample] => {
    const [old, next] = documentsOf(example)
    return [name, { title: `Lens: ${name}`, old, next }]
  }),
])
