import type { RealChange } from './real-change.ts'

const vendor = 'Kubernetes'

/** From the deprecated API migration guide at kubernetes.io. */
export const KUBERNETES: readonly RealChange[] = [
  {
    vendor,
    date: 'v1.16',
    what: 'The update strategy of a DaemonSet is `RollingUpdate` by default, not `OnDelete`.',
    schemas: `
 DaemonSetSpec:
   type: object
   properties:
-    updateStrategy: { type: string, enum: [OnDelete, RollingUpdate], default: OnDelete }
+    updateStrategy: { type: string, enum: [OnDelete, RollingUpdate], default: RollingUpdate }
`,
    use: 'request',
    lens: `v.default(['DaemonSetSpec'], 'updateStrategy', 'OnDelete')`,
    values: [{ old: {}, new: { updateStrategy: 'OnDelete' } }],
  },
  {
    vendor,
    date: 'v1.16',
    what: '`selector` of a Deployment is required. Before, the default was the labels of the template.',
    reason:
      'The value depends on a different property of the request, and a default is the same for all requests.',
  },
  {
    vendor,
    date: 'v1.22',
    what: '`backend` of an Ingress became `defaultBackend`.',
    schemas: `
 IngressSpec:
   type: object
   properties:
-    backend: { $ref: "#/components/schemas/Backend" }
+    defaultBackend: { $ref: "#/components/schemas/Backend" }
 Backend:
   type: object
   properties:
     resource: { type: string }
`,
    lens: `v.rename(['IngressSpec'], 'backend', 'defaultBackend')`,
    values: [{ old: { backend: { resource: 'r' } }, new: { defaultBackend: { resource: 'r' } } }],
  },
  {
    vendor,
    date: 'v1.22',
    what: '`serviceName` and `servicePort` of a backend moved into `service`, where a port has a number or a name.',
    schemas: `
 Backend:
   type: object
-  required: [serviceName, servicePort]
+  required: [service]
   properties:
-    serviceName: { type: string }
-    servicePort: { oneOf: [{ type: integer }, { type: string }] }
+    service:
+      type: object
+      required: [name, port]
+      properties:
+        name: { type: string }
+        port: { $ref: "#/components/schemas/Port" }
+Port:
+  oneOf:
+    - { type: object, required: [number], properties: { number: { type: integer } } }
+    - { type: object, required: [name], properties: { name: { type: string } } }
`,
    use: 'request',
    lens: `v.moved(['Backend'], ['serviceName'], ['service', 'name']),
v.moved(['Backend'], ['servicePort'], ['service', 'port'], {
  up: (port) => (typeof port === 'number' ? { number: port } : { name: port }),
  down: (port) => ('number' in port ? port.number : port.name),
})`,
    values: [
      {
        old: { serviceName: 'web', servicePort: 80 },
        new: { service: { name: 'web', port: { number: 80 } } },
      },
      {
        old: { serviceName: 'web', servicePort: 'http' },
        new: { service: { name: 'web', port: { name: 'http' } } },
      },
    ],
  },
  {
    vendor,
    date: 'v1.22',
    what: '`pathType` is required for each path of an Ingress. `ImplementationSpecific` has the meaning of a missing value.',
    schemas: `
 IngressPaths:
   type: object
   properties:
     paths: { type: array, items: { $ref: "#/components/schemas/IngressPath" } }
 IngressPath:
   type: object
+  required: [pathType]
   properties:
     path: { type: string }
     pathType: { type: string, enum: [Prefix, Exact, ImplementationSpecific] }
`,
    use: 'request',
    lens: `v.default(['IngressPath'], 'pathType', 'ImplementationSpecific')`,
    values: [
      {
        old: { paths: [{ path: '/' }] },
        new: { paths: [{ path: '/', pathType: 'ImplementationSpecific' }] },
      },
    ],
  },
  {
    vendor,
    date: 'v1.22',
    what: '`group` of a SubjectAccessReview became `groups`.',
    schemas: `
 SubjectAccessReviewSpec:
   type: object
   properties:
     user: { type: string }
-    group: { type: array, items: { type: string } }
+    groups: { type: array, items: { type: string } }
`,
    use: 'request',
    lens: `v.rename(['SubjectAccessReviewSpec'], 'group', 'groups')`,
    values: [{ old: { user: 'ada', group: ['dev'] }, new: { user: 'ada', groups: ['dev'] } }],
  },
  {
    vendor,
    date: 'v1.22',
    what: '`version` of a CustomResourceDefinition became a list, `versions`.',
    schemas: `
 DefinitionSpec:
   type: object
-  required: [version]
+  required: [versions]
   properties:
-    version: { type: string }
+    versions:
+      type: array
+      items:
+        type: object
+        required: [name]
+        properties:
+          name: { type: string }
`,
    use: 'request',
    lens: `v.rename(['DefinitionSpec'], 'version', 'versions', {
  up: (name) => [{ name }],
  down: ([first]) => first?.name ?? '',
  loss: 'drop',
})`,
    values: [{ old: { version: 'v1' }, new: { versions: [{ name: 'v1' }] } }],
  },
  {
    vendor,
    date: 'v1.22',
    what: '`webhookClientConfig` and `conversionReviewVersions` moved into `webhook`.',
    schemas: `
 Conversion:
   type: object
   properties:
     strategy: { type: string }
-    webhookClientConfig: { type: object, properties: { url: { type: string } } }
-    conversionReviewVersions: { type: array, items: { type: string } }
+    webhook:
+      type: object
+      properties:
+        clientConfig: { type: object, properties: { url: { type: string } } }
+        conversionReviewVersions: { type: array, items: { type: string } }
`,
    lens: `v.moved(['Conversion'], ['webhookClientConfig'], ['webhook', 'clientConfig']),
v.moved(['Conversion'], ['conversionReviewVersions'], ['webhook', 'conversionReviewVersions'])`,
    values: [
      {
        old: { webhookClientConfig: { url: 'https://a' }, conversionReviewVersions: ['v1'] },
        new: { webhook: { clientConfig: { url: 'https://a' }, conversionReviewVersions: ['v1'] } },
      },
    ],
  },
  {
    vendor,
    date: 'v1.22',
    what: '`JSONPath` of printer columns became `jsonPath`.',
    schemas: `
 Columns:
   type: object
   properties:
     additionalPrinterColumns: { type: array, items: { $ref: "#/components/schemas/Column" } }
 Column:
   type: object
   required: [name]
   properties:
     name: { type: string }
-    JSONPath: { type: string }
+    jsonPath: { type: string }
`,
    lens: `v.rename(['Column'], 'JSONPath', 'jsonPath')`,
    values: [
      {
        old: { additionalPrinterColumns: [{ name: 'Age', JSONPath: '.age' }] },
        new: { additionalPrinterColumns: [{ name: 'Age', jsonPath: '.age' }] },
      },
    ],
  },
  {
    vendor,
    date: 'v1.25',
    what: 'The map `topology` of an endpoint was replaced by `nodeName` and `zone`.',
    note: 'Old callers see only the host name and the zone.',
    schemas: `
 Endpoint:
   type: object
   properties:
-    topology: { type: object, additionalProperties: { type: string } }
+    nodeName: { type: string }
+    zone: { type: string }
`,
    use: 'response',
    lens: `v.replace(['Endpoint'], {
  old: ['topology'],
  new: ['nodeName', 'zone'],
  up: ({ topology = {} }) => {
    const { 'kubernetes.io/hostname': nodeName, 'topology.kubernetes.io/zone': zone } = topology
    return { ...(nodeName !== undefined && { nodeName }), ...(zone !== undefined && { zone }) }
  },
  down: ({ nodeName, zone }) => ({
    topology: {
      ...(nodeName !== undefined && { 'kubernetes.io/hostname': nodeName }),
      ...(zone !== undefined && { 'topology.kubernetes.io/zone': zone }),
    },
  }),
  loss: 'drop',
})`,
    values: [
      {
        old: { topology: { 'kubernetes.io/hostname': 'n-1', 'topology.kubernetes.io/zone': 'eu-1a' } },
        new: { nodeName: 'n-1', zone: 'eu-1a' },
      },
    ],
  },
  {
    vendor,
    date: 'v1.25',
    what: '`involvedObject` of events became `regarding`, and `source` became two properties.',
    schemas: `
 EventRecord:
   type: object
   properties:
-    involvedObject: { $ref: "#/components/schemas/ObjectReference" }
-    source:
-      type: object
-      properties:
-        component: { type: string }
-        host: { type: string }
+    regarding: { $ref: "#/components/schemas/ObjectReference" }
+    reportingComponent: { type: string }
+    reportingInstance: { type: string }
 ObjectReference:
   type: object
   properties:
     kind: { type: string }
`,
    use: 'response',
    lens: `v.rename(['EventRecord'], 'involvedObject', 'regarding'),
v.moved(['EventRecord'], ['source', 'component'], ['reportingComponent']),
v.moved(['EventRecord'], ['source', 'host'], ['reportingInstance'])`,
    values: [
      {
        old: { involvedObject: { kind: 'Pod' }, source: { component: 'kubelet', host: 'n-1' } },
        new: { regarding: { kind: 'Pod' }, reportingComponent: 'kubelet', reportingInstance: 'n-1' },
      },
    ],
  },
  {
    vendor,
    date: 'v1.25',
    what: '`action`, `reason` and `reportingInstance` are required for new events.',
    note: 'Requests without them get a placeholder, `Unknown`.',
    schemas: `
 EventCreate:
   type: object
+  required: [action, reason, reportingInstance]
   properties:
     action: { type: string }
     reason: { type: string }
     reportingInstance: { type: string }
`,
    use: 'request',
    lens: `v.default(['EventCreate'], 'action', 'Unknown'),
v.default(['EventCreate'], 'reason', 'Unknown'),
v.default(['EventCreate'], 'reportingInstance', 'unknown')`,
    values: [
      {
        old: { reason: 'Started' },
        new: { action: 'Unknown', reason: 'Started', reportingInstance: 'unknown' },
      },
    ],
  },
]
