import type { RealChange } from './real-change.ts'

const vendor = 'GitLab'
const date = 'v4'

/** From doc/api/v3_to_v4.md. */
export const GITLAB: readonly RealChange[] = [
  {
    vendor,
    date,
    what: '`/projects/owned` and `/projects/starred` were merged into `/projects`, with query parameters.',
    paths: `
-/projects/owned:
-  get:
-    operationId: listOwnedProjects
-    responses:
-      "204": { description: OK }
-/projects/starred:
-  get:
-    operationId: listStarredProjects
-    responses:
-      "204": { description: OK }
 /projects:
   get:
     operationId: listProjects
+    parameters:
+      - { name: owned, in: query, schema: { type: boolean } }
+      - { name: starred, in: query, schema: { type: boolean } }
     responses:
       "204": { description: OK }
`,
    lens: `v.served('listOwnedProjects', 'listProjects', { query: { owned: true } }),
v.served('listStarredProjects', 'listProjects', { query: { starred: true } })`,
    values: [
      { old: 'listOwnedProjects', new: 'listProjects', at: 'operation' },
      { old: {}, new: { owned: true }, at: 'query' },
    ],
  },
  {
    vendor,
    date,
    what: '`DELETE /projects/:id/star` became `POST /projects/:id/unstar`.',
    paths: `
-/projects/{id}/star:
-  delete:
-    operationId: removeStar
+/projects/{id}/unstar:
+  post:
+    operationId: unstar
     parameters:
       - { name: id, in: path, required: true, schema: { type: integer } }
     responses:
       "204": { description: OK }
`,
    lens: `v.served('removeStar', 'unstar')`,
    values: [{ old: 'removeStar', new: 'unstar', at: 'operation' }],
  },
  {
    vendor,
    date,
    what: 'The filter `iid` of merge requests became `iids`.',
    paths: `
 /projects/{id}/merge_requests:
   get:
     operationId: listMergeRequests
     parameters:
       - { name: id, in: path, required: true, schema: { type: integer } }
-      - { name: iid, in: query, schema: { type: array, items: { type: integer } } }
+      - { name: iids, in: query, schema: { type: array, items: { type: integer } } }
     responses:
       "204": { description: OK }
`,
    lens: `v.renamedParameter('query', 'iid', 'iids', 'listMergeRequests')`,
    values: [{ old: { iid: [1, 2] }, new: { iids: [1, 2] }, at: 'query' }],
  },
  {
    vendor,
    date,
    what: '`/projects/fork/:id` became `/projects/:id/fork`.',
    paths: `
-/projects/fork/{id}:
+/projects/{id}/fork:
   post:
-    operationId: forkProject
+    operationId: createFork
     parameters:
       - { name: id, in: path, required: true, schema: { type: integer } }
     responses:
       "204": { description: OK }
`,
    lens: `v.served('forkProject', 'createFork')`,
    values: [{ old: 'forkProject', new: 'createFork', at: 'operation' }],
  },
  {
    vendor,
    date,
    what: 'Project snippets no longer include `expires_at`, which was deprecated.',
    note: 'Old callers see a placeholder, null.',
    schemas: `
 Snippet:
   type: object
-  required: [title, expires_at]
+  required: [title]
   properties:
     title: { type: string }
-    expires_at: { type: [string, "null"] }
`,
    use: 'response',
    lens: `v.drop(['Snippet'], 'expires_at', { down: () => null, loss: 'drop' })`,
    values: [{ old: { title: 'a', expires_at: null }, new: { title: 'a' } }],
  },
  {
    vendor,
    date,
    what: '`/projects/:search` became `/projects?search=`.',
    paths: `
-/projects/search/{query}:
-  get:
-    operationId: searchProjects
-    parameters:
-      - { name: query, in: path, required: true, schema: { type: string } }
-    responses:
-      "204": { description: OK }
 /projects:
   get:
     operationId: listProjects
+    parameters:
+      - { name: search, in: query, schema: { type: string } }
     responses:
       "204": { description: OK }
`,
    lens: `v.served('searchProjects', 'listProjects'),
v.movedParameter(['path', 'query'], ['query', 'search'], 'listProjects')`,
    values: [
      {
        old: { path: { query: 'books' }, query: {}, headers: {} },
        new: { path: {}, query: { search: 'books' }, headers: {} },
        at: 'request',
      },
    ],
  },
]
