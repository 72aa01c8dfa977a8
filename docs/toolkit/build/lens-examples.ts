/** An example of each lens, which the reference shows with its results, and a test runs. */
import type { LENSES } from '../playground/compare.ts'

/** Constructors of lenses, and of the places that lenses can target. */
export type LensName = Exclude<keyof typeof LENSES, 'change'>

export interface LensExample {
  /** Components that differ: lines of both versions, as `diff` prints them. `Book` is the body of the operation `saveBook`. */
  readonly schemas?: string
  /** Paths that differ, in the same form, in place of `saveBook`. */
  readonly paths?: string
  /** Webhooks that differ, in the same form. */
  readonly webhooks?: string
  /** Source text of the lens. */
  readonly lens: string
  /** The translated place, and a value of the old version. */
  readonly up?: readonly [place: string, value: unknown]
  /** The translated place, and a value of the new version. */
  readonly down?: readonly [place: string, value: unknown]
}

const REQUEST = 'saveBook body'
const RESPONSE = 'saveBook 200'

/** Both directions of `saveBook`. */
const saved = (old: object, next: object): Pick<LensExample, 'up' | 'down'> => ({
  up: [REQUEST, old],
  down: [RESPONSE, next],
})

/** Ordered as the reference shows them. The type requires an example for each lens. */
export const LENS_EXAMPLES: Readonly<Record<LensName, LensExample>> = {
  rename: {
    schemas: `
 Book:
   type: object
-  required: [title]
+  required: [name]
   properties:
-    title: { type: string }
+    name: { type: string }
`,
    lens: `v.rename(['Book'], 'title', 'name')`,
    ...saved({ title: 'Emma' }, { name: 'Emma' }),
  },
  convert: {
    schemas: `
 Book:
   type: object
   properties:
-    price: { type: number, description: In euros }
+    price: { type: integer, description: In cents }
`,
    lens: `v.convert(['Book'], 'price', {
  up: (euros) => Math.round(euros * 100),
  down: (cents) => cents / 100,
  loss: 'merge',
})`,
    ...saved({ price: 12.5 }, { price: 1250 }),
  },
  convertWhole: {
    paths: `
 /books:
   get:
     operationId: listBooks
     responses:
       "200":
         description: OK
         content:
           application/json:
             schema:
-              type: array
-              items: { type: string }
+              type: object
+              required: [data]
+              properties:
+                data: { type: array, items: { type: string } }
`,
    lens: `v.convertWhole(v.answer('listBooks', 200), {
  up: (books) => ({ data: books }),
  down: ({ data }) => data,
})`,
    down: ['listBooks 200', { data: ['Emma'] }],
  },
  values: {
    schemas: `
 Book:
   type: object
   properties:
     format: { $ref: "#/components/schemas/Format" }
 Format:
   type: string
-  enum: [paper, audio]
+  enum: [print, audio, audio_abridged]
`,
    lens: `v.values('Format', {
  rename: { paper: 'print' },
  merge: { audio_abridged: 'audio' },
  loss: 'merge',
})`,
    ...saved({ format: 'paper' }, { format: 'audio_abridged' }),
  },
  valuesOf: {
    schemas: `
 Book:
   type: object
   properties:
-    format: { type: string, enum: [paper, audio] }
+    format: { type: string, enum: [print, audio] }
`,
    lens: `v.valuesOf(['Book'], 'format', { rename: { paper: 'print' } })`,
    ...saved({ format: 'paper' }, { format: 'print' }),
  },
  moved: {
    schemas: `
 Book:
   type: object
   properties:
-    author_name: { type: string }
+    author:
+      type: object
+      properties:
+        name: { type: string }
`,
    lens: `v.moved(['Book'], ['author_name'], ['author', 'name'])`,
    ...saved({ author_name: 'Jane Austen' }, { author: { name: 'Jane Austen' } }),
  },
  wrapped: {
    schemas: `
 Book:
   type: object
   properties:
-    author: { $ref: "#/components/schemas/Author" }
+    authors: { type: array, items: { $ref: "#/components/schemas/Author" } }
 Author:
   type: object
   properties:
-    surname: { type: string }
+    family_name: { type: string }
`,
    lens: `v.wrapped(['Book'], 'author', 'authors', { loss: 'drop' }),
v.rename(['Author'], 'surname', 'family_name')`,
    ...saved(
      { author: { surname: 'Austen' } },
      { authors: [{ family_name: 'Austen' }, { family_name: 'Brontë' }] },
    ),
  },
  unwrapped: {
    schemas: `
 Book:
   type: object
   properties:
-    shelves: { type: array, items: { type: string } }
+    shelf: { type: string }
`,
    lens: `v.unwrapped(['Book'], 'shelves', 'shelf', { loss: 'drop' })`,
    ...saved({ shelves: ['B', 'C'] }, { shelf: 'B' }),
  },
  replace: {
    schemas: `
 Book:
   type: object
   properties:
-    first_name: { type: string, description: Of the author }
-    last_name: { type: string, description: Of the author }
+    author: { type: string }
`,
    lens: `v.replace(['Book'], {
  old: ['first_name', 'last_name'],
  new: ['author'],
  up: ({ first_name = '', last_name = '' }) => ({ author: \`\${first_name} \${last_name}\` }),
  down: ({ author = '' }) => {
    const [first_name = '', ...rest] = author.split(' ')
    return { first_name, last_name: rest.join(' ') }
  },
  loss: 'merge',
})`,
    ...saved({ first_name: 'Jane', last_name: 'Austen' }, { author: 'Jane Austen' }),
  },
  drop: {
    schemas: `
 Book:
   type: object
-  required: [title, shelf]
+  required: [title]
   properties:
     title: { type: string }
-    shelf: { type: string }
`,
    lens: `v.drop(['Book'], 'shelf', { loss: 'drop', down: ({ title }) => title.slice(0, 1) })`,
    ...saved({ title: 'Emma', shelf: 'B' }, { title: 'Emma' }),
  },
  default: {
    schemas: `
 Book:
   type: object
-  required: [title]
+  required: [title, pages]
   properties:
     title: { type: string }
+    pages: { type: integer, minimum: 1 }
`,
    lens: `v.default(['Book'], 'pages', 1)`,
    ...saved({ title: 'Emma' }, { title: 'Emma', pages: 474 }),
  },
  optional: {
    schemas: `
 Book:
   type: object
-  required: [summary]
   properties:
     summary: { type: string }
`,
    lens: `v.optional(['Book'], 'summary', '')`,
    down: [RESPONSE, {}],
  },
  nullable: {
    schemas: `
 Book:
   type: object
   properties:
-    due: { type: string }
+    due: { type: [string, "null"] }
`,
    lens: `v.nullable(['Book'], 'due', 'never')`,
    down: [RESPONSE, { due: null }],
  },
  nullableWhole: {
    schemas: `
 Book:
   type: object
   properties:
     due: { $ref: "#/components/schemas/Due" }
 Due:
-  type: string
+  type: [string, "null"]
`,
    lens: `v.nullableWhole('Due', 'never')`,
    down: [RESPONSE, { due: null }],
  },
  nonNull: {
    schemas: `
 Book:
   type: object
   properties:
-    pages: { type: [integer, "null"] }
+    pages: { type: integer }
`,
    lens: `v.nonNull(['Book'], 'pages', 0)`,
    up: [REQUEST, { pages: null }],
  },
  nonNullWhole: {
    schemas: `
 Book:
   type: object
   properties:
     due: { $ref: "#/components/schemas/Due" }
 Due:
-  type: [string, "null"]
+  type: string
`,
    lens: `v.nonNullWhole('Due', 'never')`,
    up: [REQUEST, { due: null }],
  },
  leaveOut: {
    schemas: `
 Book:
   type: object
   properties:
     formats:
       type: array
       items: { $ref: "#/components/schemas/Format" }
 Format:
   type: string
-  enum: [print]
+  enum: [print, audio]
`,
    lens: `v.leaveOut(['Book'], 'formats', { unless: 'Format', loss: 'drop' })`,
    down: [RESPONSE, { formats: ['print', 'audio'] }],
  },
  filter: {
    paths: `
 /books:
   get:
     operationId: listBooks
     parameters:
       - name: format
         in: query
         x-filter: equality
-        schema: { type: string, enum: [paper, audio] }
+        schema: { type: string, enum: [hardcover, paperback, audio] }
     responses:
       "204": { description: OK }
`,
    lens: `v.filter('listBooks', 'format', (format) => (format === 'paper' ? ['hardcover', 'paperback'] : [format]))`,
    up: ['listBooks query', { format: ['paper'] }],
  },
  renamedParameter: {
    paths: `
 /books:
   get:
     operationId: listBooks
     parameters:
-      - { name: q, in: query, schema: { type: string } }
+      - { name: search, in: query, schema: { type: string } }
     responses:
       "204": { description: OK }
`,
    lens: `v.renamedParameter('query', 'q', 'search', 'listBooks')`,
    up: ['listBooks query', { q: 'emma' }],
  },
  defaultParameter: {
    paths: `
 /books:
   get:
     operationId: listBooks
     parameters:
-      - { name: limit, in: query, schema: { type: integer } }
+      - { name: limit, in: query, required: true, schema: { type: integer } }
     responses:
       "204": { description: OK }
`,
    lens: `v.defaultParameter('query', 'limit', 20, 'listBooks')`,
    up: ['listBooks query', {}],
  },
  convertedParameter: {
    paths: `
 /books:
   get:
     operationId: listBooks
     parameters:
-      - { name: since, in: query, schema: { type: string, format: date } }
+      - { name: since, in: query, schema: { type: string, format: date-time } }
     responses:
       "204": { description: OK }
`,
    lens: `v.convertedParameter('query', 'since', (day) => \`\${day}T00:00:00Z\`, 'listBooks')`,
    up: ['listBooks query', { since: '2030-01-01' }],
  },
  movedParameter: {
    paths: `
 /books/{id}:
   delete:
     operationId: deleteBook
     parameters:
       - { name: id, in: path, required: true, schema: { type: string } }
-      - { name: reason, in: query, schema: { type: string } }
+      - { name: Library-Reason, in: header, schema: { type: string } }
     responses:
       "204": { description: OK }
`,
    lens: `v.movedParameter(['query', 'reason'], ['header', 'Library-Reason'], 'deleteBook')`,
    up: ['deleteBook request', { path: { id: 'b1' }, query: { reason: 'lost' }, headers: {} }],
  },
  ignoredParameter: {
    paths: `
 /books:
   get:
     operationId: listBooks
-    parameters:
-      - { name: verbose, in: query, schema: { type: boolean } }
     responses:
       "204": { description: OK }
`,
    lens: `v.ignoredParameter('query', 'verbose', 'listBooks')`,
    up: ['listBooks query', { verbose: true }],
  },
  requiredHeader: {
    paths: `
 /books:
   post:
     operationId: createBook
     parameters:
-      - { name: Idempotency-Key, in: header, schema: { type: string } }
+      - { name: Idempotency-Key, in: header, required: true, schema: { type: string } }
     responses:
       "204": { description: OK }
`,
    lens: `v.requiredHeader('Idempotency-Key')`,
  },
  renamedHeader: {
    paths: `
 /books:
   get:
     operationId: listBooks
     responses:
       "204": { description: OK }
`,
    webhooks: `
 book.lent:
   post:
     parameters:
-      - { name: X-Signature, in: header, required: true, schema: { type: string } }
+      - { name: Library-Signature, in: header, required: true, schema: { type: string } }
     responses:
       "204": { description: OK }
`,
    lens: `v.renamedHeader('X-Signature', 'Library-Signature')`,
  },
  renamedEvent: {
    paths: '',
    webhooks: `
-book.lent:
+loan.started:
   post:
     requestBody:
       content:
         application/json:
           schema:
             type: object
             properties:
-              type: { const: book.lent }
+              type: { const: loan.started }
               title: { type: string }
     responses:
       "204": { description: OK }
`,
    lens: `v.renamedEvent('book.lent', 'loan.started'),
v.convert([v.payload('loan.started')], 'type', { up: () => 'loan.started', down: () => 'book.lent' })`,
    down: ['event loan.started', { type: 'loan.started', title: 'Emma' }],
  },
  behaviour: {
    paths: `
 /books:
   get:
     operationId: listBooks
     responses:
       "204": { description: OK }
`,
    lens: `v.behaviour('archived-in-lists', 'listBooks')`,
  },
  served: {
    paths: `
-/books:
-  get:
-    operationId: listBooks
-    responses:
-      "204": { description: OK }
-/films:
-  get:
-    operationId: listFilms
-    responses:
-      "204": { description: OK }
+/items:
+  get:
+    operationId: listItems
+    parameters:
+      - { name: type, in: query, required: true, schema: { type: string } }
+    responses:
+      "204": { description: OK }
`,
    lens: `v.served('listBooks', 'listItems', { query: { type: 'book' } }),
v.served('listFilms', 'listItems', { query: { type: 'film' } })`,
    up: ['listFilms query', {}],
  },
  status: {
    paths: `
 /books:
   post:
     operationId: createBook
     responses:
-      "200": { description: Created }
+      "201": { description: Created }
`,
    lens: `v.status(200, 201, 'createBook')`,
  },
  accept: {
    schemas: `
 Book:
   type: object
   properties:
-    title: { type: string, maxLength: 1000 }
+    title: { type: string, maxLength: 200 }
`,
    lens: `v.accept('bound-tightened', 'Book.title')`,
  },
  answer: {
    paths: `
 /books:
   get:
     operationId: listBooks
     responses:
       "200":
         description: OK
         content:
           application/json:
             schema:
               type: object
               properties:
                 data:
                   type: array
                   items:
                     type: object
                     properties:
-                      title: { type: string }
+                      name: { type: string }
`,
    lens: `v.rename([v.answer('listBooks', 200, 'data', '[]')], 'title', 'name')`,
    down: ['listBooks 200', { data: [{ name: 'Emma' }] }],
  },
  body: {
    paths: `
 /books:
   post:
     operationId: createBook
     requestBody:
       content:
         application/json:
           schema:
             type: object
             properties:
-              title: { type: string }
+              name: { type: string }
     responses:
       "204": { description: OK }
`,
    lens: `v.rename([v.body('createBook')], 'title', 'name')`,
    up: ['createBook body', { title: 'Emma' }],
  },
  payload: {
    paths: `
 /books:
   get:
     operationId: listBooks
     responses:
       "204": { description: OK }
`,
    webhooks: `
 book.lent:
   post:
     requestBody:
       content:
         application/json:
           schema:
             type: object
             properties:
-              title: { type: string }
+              name: { type: string }
     responses:
       "204": { description: OK }
`,
    lens: `v.rename([v.payload('book.lent')], 'title', 'name')`,
    down: ['event book.lent', { name: 'Emma' }],
  },
  inside: {
    schemas: `
 Book:
   type: object
   properties:
     author:
       type: object
       properties:
-        surname: { type: string }
+        family_name: { type: string }
`,
    lens: `v.rename([v.inside('Book', 'author')], 'surname', 'family_name')`,
    ...saved({ author: { surname: 'Austen' } }, { author: { family_name: 'Austen' } }),
  },
}
