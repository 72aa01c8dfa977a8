import type { RealChange } from './real-change.ts'

const vendor = 'Discord'
const date = 'v8, September 24, 2020'

/** From the change log at discord.com/developers/docs (developers/change-log.mdx of discord/discord-api-docs). */
export const DISCORD: readonly RealChange[] = [
  {
    vendor,
    date,
    what: 'Permissions are strings that hold a number.',
    note: 'Old callers get the nearest number that JavaScript can represent.',
    schemas: `
 Role:
   type: object
   required: [permissions]
   properties:
-    permissions: { type: integer }
+    permissions: { type: string, pattern: "^[0-9]{1,30}$" }
`,
    use: 'response',
    lens: `v.convert(['Role'], 'permissions', { up: String, down: Number, loss: 'merge' })`,
    values: [{ old: { permissions: 104324161 }, new: { permissions: '104324161' } }],
  },
  {
    vendor,
    date,
    what: 'Presences no longer include `game`, which is the first of the `activities`.',
    schemas: `
 Presence:
   type: object
-  required: [game, activities]
+  required: [activities]
   properties:
-    game: { oneOf: [{ $ref: "#/components/schemas/Activity" }, { type: "null" }] }
     activities: { type: array, items: { $ref: "#/components/schemas/Activity" } }
 Activity:
   type: object
   properties:
     name: { type: string }
`,
    use: 'event',
    lens: `v.drop(['Presence'], 'game', { down: ({ activities }) => activities[0] ?? null, loss: 'drop' })`,
    values: [
      { old: { game: { name: 'Go' }, activities: [{ name: 'Go' }] }, new: { activities: [{ name: 'Go' }] } },
      { old: { game: null, activities: [] }, new: { activities: [] } },
    ],
  },
  {
    vendor,
    date,
    what: 'The type of a permission overwrite is 0 or 1, not `role` or `member`.',
    schemas: `
 Overwrite:
   type: object
   properties:
-    type: { type: string, enum: [role, member] }
+    type: { type: integer, enum: [0, 1] }
`,
    lens: `v.convert(['Overwrite'], 'type', {
  up: (type) => (type === 'role' ? 0 : 1),
  down: (type) => (type === 0 ? 'role' : 'member'),
})`,
    values: [{ old: { type: 'member' }, new: { type: 1 } }],
  },
  {
    vendor,
    date,
    what: '`embed_enabled` and `embed_channel_id` of guilds became `widget_enabled` and `widget_channel_id`.',
    schemas: `
 Guild:
   type: object
   properties:
-    embed_enabled: { type: boolean }
-    embed_channel_id: { type: [string, "null"] }
+    widget_enabled: { type: boolean }
+    widget_channel_id: { type: [string, "null"] }
`,
    lens: `v.rename(['Guild'], 'embed_enabled', 'widget_enabled'),
v.rename(['Guild'], 'embed_channel_id', 'widget_channel_id')`,
    values: [
      {
        old: { embed_enabled: true, embed_channel_id: null },
        new: { widget_enabled: true, widget_channel_id: null },
      },
    ],
  },
  {
    vendor,
    date,
    what: '`/guilds/{guild_id}/embed` became `/guilds/{guild_id}/widget`.',
    paths: `
-/guilds/{guild_id}/embed:
+/guilds/{guild_id}/widget:
   get:
-    operationId: getGuildEmbed
+    operationId: getGuildWidget
     parameters:
       - { name: guild_id, in: path, required: true, schema: { type: string } }
     responses:
       "204": { description: OK }
`,
    lens: `v.served('getGuildEmbed', 'getGuildWidget')`,
    values: [{ old: 'getGuildEmbed', new: 'getGuildWidget', at: 'operation' }],
  },
  {
    vendor,
    date,
    what: '`retry_after` of a rate limit is in seconds, not in milliseconds.',
    paths: `
 /channels/{id}/messages:
   get:
     operationId: getMessages
     parameters:
       - { name: id, in: path, required: true, schema: { type: string } }
     responses:
       "204": { description: OK }
       "429":
         description: Too many requests
         content:
           application/json:
             schema:
               type: object
               required: [retry_after]
               properties:
-                retry_after: { type: integer, minimum: 0, maximum: 3600000 }
+                retry_after: { type: number, minimum: 0, maximum: 3600 }
`,
    lens: `v.convert([v.answer('getMessages', 429)], 'retry_after', {
  up: (milliseconds) => milliseconds / 1000,
  down: (seconds) => Math.round(seconds * 1000),
  loss: 'merge',
})`,
    values: [{ old: { retry_after: 6457 }, new: { retry_after: 6.457 }, at: '429' }],
  },
  {
    vendor,
    date,
    what: 'Banning a member takes `delete_message_days`, not `delete-message-days`.',
    schemas: `
 Ban:
   type: object
   properties:
-    delete-message-days: { type: integer }
+    delete_message_days: { type: integer }
`,
    use: 'request',
    lens: `v.rename(['Ban'], 'delete-message-days', 'delete_message_days')`,
    values: [{ old: { 'delete-message-days': 7 }, new: { delete_message_days: 7 } }],
  },
  {
    vendor,
    date,
    what: 'Listing integrations no longer takes `include_applications`: integrations of applications are always included.',
    note: 'The value is ignored: old callers that sent `false` also get integrations of applications.',
    paths: `
 /guilds/{guild_id}/integrations:
   get:
     operationId: listIntegrations
     parameters:
       - { name: guild_id, in: path, required: true, schema: { type: string } }
-      - { name: include_applications, in: query, schema: { type: boolean } }
     responses:
       "204": { description: OK }
`,
    lens: `v.ignoredParameter('query', 'include_applications', 'listIntegrations')`,
    values: [{ old: { include_applications: true }, new: {}, at: 'query' }],
  },
  {
    vendor,
    date,
    what: 'Presence updates no longer include `roles`, `premium_since` and `nick` of the member.',
    reason: 'The member is not part of the event; the sender must load it.',
  },
  {
    vendor,
    date: 'v10, February 14, 2022',
    what: 'The reason for a ban, as for every audited action, is in the header `X-Audit-Log-Reason`, not in the parameter `reason`.',
    paths: `
 /guilds/{guild_id}/bans/{user_id}:
   put:
     operationId: banMember
     parameters:
       - { name: guild_id, in: path, required: true, schema: { type: string } }
       - { name: user_id, in: path, required: true, schema: { type: string } }
-      - { name: reason, in: query, schema: { type: string } }
+      - { name: X-Audit-Log-Reason, in: header, schema: { type: string } }
     responses:
       "204": { description: OK }
`,
    lens: `v.movedParameter(['query', 'reason'], ['header', 'X-Audit-Log-Reason'], 'banMember')`,
    values: [
      {
        old: { path: { guild_id: '1', user_id: '2' }, query: { reason: 'spam' }, headers: {} },
        new: { path: { guild_id: '1', user_id: '2' }, query: {}, headers: { 'x-audit-log-reason': 'spam' } },
        at: 'request',
      },
    ],
  },
  {
    vendor,
    date: 'v10, February 14, 2022',
    what: 'Creating a message takes a list of `embeds`, instead of one `embed`.',
    schemas: `
 MessageCreate:
   type: object
   properties:
     content: { type: string }
-    embed: { $ref: "#/components/schemas/Embed" }
+    embeds: { type: array, items: { $ref: "#/components/schemas/Embed" } }
 Embed:
   type: object
   properties:
     title: { type: string }
`,
    use: 'request',
    lens: `v.wrapped(['MessageCreate'], 'embed', 'embeds', { loss: 'drop' })`,
    values: [{ old: { embed: { title: 'a' } }, new: { embeds: [{ title: 'a' }] } }],
  },
]
