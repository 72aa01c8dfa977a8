import type { RealChange } from './real-change.ts'

const vendor = 'GitHub'
const date = '2026-03-10'

/** From docs.github.com/rest/about-the-rest-api/breaking-changes. */
export const GITHUB: readonly RealChange[] = [
  {
    vendor,
    date,
    what: 'Rate limits no longer include `rate`, which repeats `resources.core`.',
    schemas: `
 RateLimits:
   type: object
-  required: [resources, rate]
+  required: [resources]
   properties:
     resources:
       type: object
       required: [core]
       properties:
         core: { $ref: "#/components/schemas/RateLimit" }
-    rate: { $ref: "#/components/schemas/RateLimit" }
 RateLimit:
   type: object
   required: [limit]
   properties:
     limit: { type: integer }
`,
    use: 'response',
    lens: `v.drop(['RateLimits'], 'rate', { down: ({ resources }) => resources.core, loss: 'drop' })`,
    values: [
      {
        old: { resources: { core: { limit: 5000 } }, rate: { limit: 5000 } },
        new: { resources: { core: { limit: 5000 } } },
      },
    ],
  },
  {
    vendor,
    date,
    what: 'Creating a team no longer takes `permission`, which had no effect.',
    note: 'The value is dropped; it had no effect before either.',
    schemas: `
 TeamCreate:
   type: object
   properties:
     name: { type: string }
-    permission: { type: string, enum: [pull, push] }
`,
    use: 'request',
    lens: `v.drop(['TeamCreate'], 'permission', { loss: 'drop' })`,
    values: [{ old: { name: 'a', permission: 'push' }, new: { name: 'a' } }],
  },
  {
    vendor,
    date,
    what: 'Submodules in the contents of a folder have the type `submodule`, not `file`.',
    note: 'Old callers see `submodule` as `file`, as before.',
    schemas: `
 Entry:
   type: object
   properties:
-    type: { type: string, enum: [file, dir] }
+    type: { type: string, enum: [file, dir, submodule] }
`,
    use: 'response',
    lens: `v.valuesOf(['Entry'], 'type', { merge: { submodule: 'file' }, loss: 'merge' })`,
    values: [{ old: { type: 'file' }, new: { type: 'submodule' } }],
  },
  {
    vendor,
    date,
    what: 'A SARIF response has the media type `application/sarif+json`, not `application/json+sarif`.',
    reason: 'No lens changes the media type of a response; the server must set the header for old callers.',
  },
  {
    vendor,
    date,
    what: 'Repositories have `squash_merge_commit_title` instead of `use_squash_pr_title_as_default`.',
    schemas: `
 Repository:
   type: object
-  required: [use_squash_pr_title_as_default, squash_merge_commit_title]
+  required: [squash_merge_commit_title]
   properties:
-    use_squash_pr_title_as_default: { type: boolean }
     squash_merge_commit_title: { type: string, enum: [PR_TITLE, COMMIT_OR_PR_TITLE] }
`,
    use: 'response',
    lens: `v.drop(['Repository'], 'use_squash_pr_title_as_default', {
  down: ({ squash_merge_commit_title: title }) => title === 'PR_TITLE',
  loss: 'drop',
})`,
    values: [
      {
        old: { use_squash_pr_title_as_default: true, squash_merge_commit_title: 'PR_TITLE' },
        new: { squash_merge_commit_title: 'PR_TITLE' },
      },
    ],
  },
  {
    vendor,
    date,
    what: 'Repositories no longer include `master_branch`, which repeats `default_branch`.',
    schemas: `
 Repository:
   type: object
-  required: [default_branch, master_branch]
+  required: [default_branch]
   properties:
     default_branch: { type: string }
-    master_branch: { type: string }
`,
    use: 'event',
    lens: `v.drop(['Repository'], 'master_branch', {
  down: ({ default_branch }) => default_branch,
  loss: 'drop',
})`,
    values: [{ old: { default_branch: 'main', master_branch: 'main' }, new: { default_branch: 'main' } }],
  },
  {
    vendor,
    date,
    what: 'Repositories no longer include `has_downloads`.',
    note: 'Old callers see a placeholder, `true`.',
    schemas: `
 Repository:
   type: object
-  required: [name, has_downloads]
+  required: [name]
   properties:
     name: { type: string }
-    has_downloads: { type: boolean }
`,
    use: 'response',
    lens: `v.drop(['Repository'], 'has_downloads', { down: () => true, loss: 'drop' })`,
    values: [{ old: { name: 'a', has_downloads: true }, new: { name: 'a' } }],
  },
  {
    vendor,
    date,
    what: 'Deleting an installation returns 202, not 204.',
    paths: `
 /app/installations/{id}:
   delete:
     operationId: deleteInstallation
     parameters:
       - { name: id, in: path, required: true, schema: { type: integer } }
     responses:
-      "204": { description: Deleted }
+      "202": { description: Accepted }
`,
    lens: `v.status(204, 202, 'deleteInstallation')`,
    values: [{ old: 204, new: 202, at: 'status' }],
  },
  {
    vendor,
    date,
    what: 'Gists have an `owner` instead of a `user`.',
    schemas: `
 Gist:
   type: object
   required: [id]
   properties:
     id: { type: string }
-    user: { $ref: "#/components/schemas/User" }
+    owner: { $ref: "#/components/schemas/User" }
 User:
   type: object
   properties:
     login: { type: string }
`,
    use: 'response',
    lens: `v.rename(['Gist'], 'user', 'owner')`,
    values: [{ old: { id: 'g', user: { login: 'ada' } }, new: { id: 'g', owner: { login: 'ada' } } }],
  },
  {
    vendor,
    date,
    what: 'Email addresses are objects, not strings.',
    paths: `
 /user/emails:
   get:
     operationId: listEmails
     responses:
       "200":
         description: OK
         content:
           application/json:
             schema: { type: array, items: { $ref: "#/components/schemas/Email" } }
`,
    schemas: `
 Email:
-  type: string
+  type: object
+  required: [email, verified]
+  properties:
+    email: { type: string }
+    verified: { type: boolean }
`,
    lens: `v.convertWhole('Email', {
  up: (email) => ({ email, verified: false }),
  down: ({ email }) => email,
  loss: 'drop',
})`,
    values: [{ old: ['ada@example.com'], new: [{ email: 'ada@example.com', verified: true }], only: 'down' }],
  },
]
