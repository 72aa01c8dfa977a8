/**
 * Every environment variable of the service, with what an operator must know about it. `settings.ts` and its neighbors read the
 * variables; `docs/settings.md` is made from this table (`npm run docs:settings`).
 * The file is long because it is one table: a row for each variable.
 */
export interface SettingEntry {
  /** What a value looks like. */
  readonly type: string
  /** The value that counts if the variable is not set; absent: the feature is off, or `meaning` says what happens. */
  readonly fallback?: string
  readonly example: string
  readonly meaning: string
  /** The value is a secret: pages and commands never show it. */
  readonly isSecret?: true
}

const origin = 'URL without a path'
const pem = 'path of a PEM file'
const milliseconds = 'milliseconds'
const days = 'days, 1 to 3650'
const basisPoints = 'basis points, 0 to 10000'

/** Settings by group, in the order in which the page shows them. */
export const SETTING_GROUPS = {
  'Processes and ports': {
    NODE_ENV: {
      type: '`production`, or anything else',
      example: 'production',
      meaning:
        'With `production`, the service listens on all addresses, accepts TLS 1.3 only, and refuses settings that are for development.',
    },
    HOST: {
      type: 'address to listen on',
      example: '10.0.0.5',
      meaning: 'Without it: `127.0.0.1`, or `0.0.0.0` in production.',
    },
    SANDBOX_PORT: {
      type: 'port; 0 for any free port',
      fallback: '4010',
      example: '8010',
      meaning: 'Port of the sandbox API.',
    },
    LIVE_PORT: {
      type: 'port; 0 for any free port',
      fallback: '4020',
      example: '8020',
      meaning: 'Port of the live API.',
    },
    CONSOLE_PORT: {
      type: 'port; 0 for any free port',
      fallback: '4000',
      example: '8000',
      meaning: 'Port of the dashboard, the documentation and the metrics.',
    },
    SANDBOX_BASE_URL: {
      type: origin,
      example: 'https://sandbox.example.com',
      meaning:
        'Public address of the sandbox API. The database keeps it for all processes until a later start sets another one.',
    },
    LIVE_BASE_URL: {
      type: origin,
      example: 'https://api.example.com',
      meaning: 'Public address of the live API, kept like `SANDBOX_BASE_URL`.',
    },
    CONSOLE_BASE_URL: {
      type: origin,
      example: 'https://dashboard.example.com',
      meaning: 'Public address of the dashboard, kept like `SANDBOX_BASE_URL`.',
    },
    TLS_CERT: {
      type: pem,
      example: '/etc/dateline/tls.crt',
      meaning: 'Certificate of all listeners. Goes with `TLS_KEY`.',
    },
    TLS_KEY: {
      type: pem,
      example: '/etc/dateline/tls.key',
      meaning: 'Private key of `TLS_CERT`.',
    },
    TRUSTED_PROXIES: {
      type: 'number of proxies, or addresses and networks',
      fallback: '0',
      example: '10.0.0.0/8, ::1',
      meaning: 'Proxies whose `X-Forwarded-For` header the service believes.',
    },
  },
  'Database and Redis': {
    DATABASE_URL: {
      type: 'URL that starts with `postgres://`',
      example: 'postgres://dateline:secret@db.internal/dateline',
      isSecret: true,
      meaning:
        'A PostgreSQL server, version 15 or newer. Without it, the service starts an embedded PostgreSQL in `DATA_DIR`.',
    },
    DATABASE_LISTEN_URL: {
      type: 'URL that starts with `postgres://`',
      example: 'postgres://dateline:secret@db.internal:5433/dateline',
      isSecret: true,
      meaning:
        'The same database and user without PgBouncer, if PgBouncer runs in transaction mode. Each process keeps one connection there to listen, and migrations run there. Without it, workers find deliveries and revocations by polling, and a start that must migrate is refused.',
    },
    DATABASE_POOL_SIZE: {
      type: 'number, 1 to 1000',
      fallback: '16',
      example: '32',
      meaning: 'Connections of each pool of a process.',
    },
    SVC_PREPARED_STATEMENTS: {
      type: '`on` or `off`',
      fallback: 'on',
      example: 'off',
      meaning: '`off` is for a PgBouncer that does not keep named statements.',
    },
    SVC_CITUS: {
      type: '`on` or `off`',
      fallback: 'off',
      example: 'on',
      meaning: 'Distributes the tables of tenants over a Citus cluster after the migrations.',
    },
    SVC_PEPPER: {
      type: 'text; in production at least 16 characters',
      example: 'a3f1c0de5e7b4c2e9d1f0a8b7c6d5e4f',
      isSecret: true,
      meaning:
        'Key of all digests and sealed values: `openssl rand -hex 32`. Required with `DATABASE_URL`; the embedded database keeps its own. If you lose it, no API key and no card number can be read again.',
    },
    DATA_DIR: {
      type: 'folder',
      fallback: '.data',
      example: '/var/lib/dateline',
      meaning: 'Folder of the embedded PostgreSQL and of the keys that are made for development.',
    },
    REDIS_URL: {
      type: 'URL that starts with `redis://` or `rediss://`',
      example: 'redis://cache.internal:6379',
      isSecret: true,
      meaning:
        'Lets several processes share rate limits and concurrency limits. While Redis is away, each process applies its own share.',
    },
  },
  'Limits, timeouts and logs': {
    LOG_LEVEL: {
      type: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
      fallback: 'info',
      example: 'warn',
      meaning: 'The lowest level that is logged.',
    },
    SVC_REQUEST_LOG: {
      type: '`all`, `failed` or `off`',
      fallback: 'failed',
      example: 'all',
      meaning: 'The requests that get a line in the process log.',
    },
    SVC_MAX_REQUESTS: {
      type: 'number, 1 to 1000000',
      fallback: '2000',
      example: '500',
      meaning: 'Requests in progress in each environment. Further requests get 503.',
    },
    SVC_MAX_LOOP_DELAY_MS: {
      type: milliseconds,
      fallback: '500',
      example: '200',
      meaning: 'Delay of the event loop above which new requests get 503.',
    },
    SVC_MAX_QUEUE: {
      type: 'number, 1 to 1000000',
      fallback: '500',
      example: '200',
      meaning:
        'Transactions that wait for a connection of a pool. Beyond it, the tenants with the most waiting transactions get 503.',
    },
    SVC_MAX_HEAP_PERCENT: {
      type: 'percent, 10 to 100',
      fallback: '85',
      example: '70',
      meaning: 'Part of the heap that may be full. Above it, new requests get 503.',
    },
    SVC_HEADERS_TIMEOUT_MS: {
      type: milliseconds,
      fallback: '20000',
      example: '10000',
      meaning: 'Time that a client has to send the headers of a request.',
    },
    SVC_REQUEST_TIMEOUT_MS: {
      type: milliseconds,
      fallback: '60000',
      example: '30000',
      meaning: 'Time that a client has to send a whole request.',
    },
    SVC_BODY_TIMEOUT_MS: {
      type: milliseconds,
      fallback: '10000',
      example: '5000',
      meaning: 'Time to read the body of an API request, which holds a concurrency slot of its tenant.',
    },
    SVC_ANSWER_TIMEOUT_MS: {
      type: milliseconds,
      fallback: '35000',
      example: '20000',
      meaning: 'Time to answer a request.',
    },
    SVC_DRAIN_TIMEOUT_MS: {
      type: milliseconds,
      fallback: '25000',
      example: '10000',
      meaning: 'Time that requests and jobs in progress have to finish after a stop signal.',
    },
    SVC_LEAVE_MS: {
      type: milliseconds,
      fallback: '0',
      example: '5000',
      meaning:
        'Time between a stop signal and the closing of the ports. `/readyz` fails meanwhile, so that a load balancer notices.',
    },
    SVC_EVENT_DAYS: {
      type: days,
      fallback: '30',
      example: '90',
      meaning:
        'How long live events and their delivery attempts are kept. The sandbox keeps its events until it is wiped.',
    },
    SVC_SCAN_DAYS: { type: days, fallback: '400', example: '730', meaning: 'How long live scans are kept.' },
  },
  Webhooks: {
    SVC_WEBHOOK_ALLOW: {
      type: 'networks',
      example: '127.0.0.0/8',
      meaning: 'Private networks that sandbox webhooks may reach, for tests. Refused in production.',
    },
    SVC_DNS_SERVERS: {
      type: 'addresses of DNS servers, with or without a port',
      example: '10.0.0.2, 10.0.0.3:5353',
      meaning: 'Resolve the host names of webhook addresses. Without it, the system resolves them.',
    },
  },
  'Apple Wallet': {
    APPLE_PASS_CERTIFICATE: {
      type: pem,
      example: '/etc/dateline/pass.pem',
      meaning:
        'Certificate of the pass type. Goes with `APPLE_PASS_KEY` and `APPLE_PASS_WWDR`. Without the three, a certificate chain for development in `DATA_DIR/wallet` signs passes, which no device accepts.',
    },
    APPLE_PASS_KEY: {
      type: pem,
      example: '/etc/dateline/pass.key',
      meaning: 'Private key of the certificate.',
    },
    APPLE_PASS_KEY_PASSWORD: {
      type: 'text',
      example: 'correct horse',
      isSecret: true,
      meaning: 'Password of the private key.',
    },
    APPLE_PASS_WWDR: {
      type: pem,
      example: '/etc/dateline/wwdr-g4.pem',
      meaning: 'Apple’s certificate that issued `APPLE_PASS_CERTIFICATE`.',
    },
    APPLE_PASS_TYPE: {
      type: 'pass type identifier',
      example: 'pass.com.example.club',
      meaning: 'If it is set, the start fails unless the certificate is for this pass type.',
    },
    APPLE_PASS_TEAM: {
      type: 'team identifier',
      example: 'A1B2C3D4E5',
      meaning: 'If it is set, the start fails unless the certificate is for this team.',
    },
    APPLE_PUSH_KEY: {
      type: 'path of a `.p8` file',
      example: '/etc/dateline/AuthKey_ABC123DEFG.p8',
      meaning:
        'Signs push notifications. Goes with `APPLE_PUSH_KEY_ID`. Without it, the pass certificate authenticates the service at APNs.',
    },
    APPLE_PUSH_KEY_ID: {
      type: '10 characters',
      example: 'ABC123DEFG',
      meaning: 'Key ID of `APPLE_PUSH_KEY`.',
    },
    APPLE_PUSH_URL: {
      type: origin,
      example: 'https://api.sandbox.push.apple.com',
      meaning: 'Another push server than Apple’s production server.',
    },
    APPLE_PAY_ROOTS: {
      type: pem,
      example: '/etc/dateline/apple-root-g3.pem',
      meaning:
        'Root certificates of the devices that cards are encrypted for (Apple Root CA - G3). Without it, roots for development, and none in production.',
    },
  },
  'Google Wallet': {
    GOOGLE_WALLET_ISSUER: {
      type: 'number',
      example: '3388000000012345678',
      meaning:
        'Issuer ID. Goes with `GOOGLE_WALLET_SERVICE_ACCOUNT`. Without the two, links are signed by a key for development, a fake of Google Wallet receives the calls, and production sends none.',
    },
    GOOGLE_WALLET_SERVICE_ACCOUNT: {
      type: 'path of a JSON file',
      example: '/etc/dateline/google.json',
      meaning: 'Key file of the service account.',
    },
    GOOGLE_WALLET_URL: {
      type: origin,
      example: 'https://walletobjects.example.com',
      meaning: 'Another address of the Google Wallet API.',
    },
    GOOGLE_TOKEN_URL: {
      type: 'URL',
      example: 'https://oauth2.example.com/token',
      meaning: 'Another address of Google’s token endpoint.',
    },
    GOOGLE_CALLBACK_KEYS_URL: {
      type: 'URL',
      example: 'https://pay.example.com/keys',
      meaning: 'Another address of the keys that sign Google’s callbacks.',
    },
    GOOGLE_PAY_KEY: {
      type: pem,
      example: '/etc/dateline/network.pem',
      meaning:
        'Public key of the card network that cards are encrypted for in Google Pay. Without it, a key for development, and none in production.',
    },
  },
  'Cards and compliance': {
    SVC_SANCTIONS_LIST: {
      type: 'folder, or path of `sdn.csv`',
      example: '/var/lib/dateline/ofac',
      meaning:
        'OFAC’s list: `sdn.csv`, `alt.csv`, `add.csv` and `sdn_comments.csv`, read again within 10 seconds after a change. Without it, a short list of invented names.',
    },
    SVC_LICENSED_STATES: {
      type: 'two-letter codes',
      example: 'CA,NY',
      meaning:
        'States of the United States where live cardholders of the United States may live. Without it, all states.',
    },
    SVC_INTERCHANGE_BP: {
      type: basisPoints,
      fallback: '150',
      example: '140',
      meaning: 'Interchange that the network shares with you, on each new clearing.',
    },
    SVC_NETWORK_FEE_BP: {
      type: basisPoints,
      fallback: '10',
      example: '12',
      meaning: 'Fee that the network takes, on each new clearing.',
    },
  },
  Payouts: {
    SVC_BANK_URL: {
      type: 'URL',
      example: 'https://bank.example.com/v1',
      meaning:
        'The bank that pays out dollars in live, by the interface in `docs/settlement.md`. Goes with `SVC_BANK_TOKEN`. Without it, a fake bank; in production, bank payouts are not made.',
    },
    SVC_BANK_TOKEN: {
      type: 'text',
      example: 'b4nk-t0ken',
      isSecret: true,
      meaning: 'Bearer token for the bank.',
    },
    SVC_CHAIN_RPC_URL: {
      type: 'URL',
      example: 'https://base.example.com/rpc',
      isSecret: true,
      meaning:
        'JSON-RPC endpoint of the chain that USDC payouts are made on. Goes with `SVC_USDC_ADDRESS`. Without it, the sandbox starts a local test chain, and live cannot pay out USDC.',
    },
    SVC_USDC_ADDRESS: {
      type: 'address, `0x` and 40 hexadecimal digits',
      example: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      meaning: 'The USDC contract on that chain.',
    },
    SVC_CHAIN_ID: {
      type: 'number',
      example: '8453',
      meaning: 'The chain ID that the node must report (EIP-155). Without it, any.',
    },
    SVC_CHAIN_CONFIRMATIONS: {
      type: 'blocks, 1 to 1000',
      fallback: '12',
      example: '20',
      meaning: 'Blocks after which a payout counts as paid.',
    },
    SVC_CHAIN_MAX_FEE_GWEI: {
      type: 'gwei, 1 to 1000000',
      fallback: '500',
      example: '50',
      meaning: 'Gas price above which no payout is sent.',
    },
    SVC_ALLOW_TEST_CHAIN: {
      type: '`on` or `off`',
      fallback: 'off',
      example: 'on',
      meaning:
        'Lets live pay out on a test chain and with a publicly known key, which production otherwise refuses. All dashboard pages show it.',
    },
    SVC_PAYOUT_KEY: {
      type: '64 hexadecimal digits',
      example: '4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318',
      isSecret: true,
      meaning:
        'Private key that signs USDC payouts. Set this variable, `SVC_PAYOUT_KEY_FILE` or `SVC_PAYOUT_SIGNER_URL`.',
    },
    SVC_PAYOUT_KEY_FILE: {
      type: 'path of a file with mode 0600',
      example: '/etc/dateline/payout.key',
      meaning: 'File with the private key.',
    },
    SVC_PAYOUT_SIGNER_URL: {
      type: 'URL',
      example: 'https://signer.internal:8443/sign',
      meaning: 'Your own program that keeps the key and signs (`docs/payout-signer.md`).',
    },
    SVC_PAYOUT_SIGNER_TOKEN: {
      type: 'text',
      example: 's1gner-t0ken',
      isSecret: true,
      meaning: 'Bearer token for the signer.',
    },
  },
  Tests: {
    SVC_CLOCK: {
      type: 'ISO 8601 instant',
      example: '2027-02-02T00:00:00Z',
      meaning: 'Starts the service clock at this instant. Refused in production.',
    },
    SVC_MIGRATIONS_DIR: {
      type: 'folder',
      example: 'test/migrations',
      meaning: 'Other migrations than the service’s own, for tests of upgrades. Refused in production.',
    },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, SettingEntry>>>>

type Groups = typeof SETTING_GROUPS

/** Name of an environment variable that the service reads. */
export type SettingName = { [G in keyof Groups]: keyof Groups[G] }[keyof Groups]

/** Environment variables, such as those of the process. */
export type SettingVariables = Readonly<Partial<Record<SettingName, string | undefined>>>
