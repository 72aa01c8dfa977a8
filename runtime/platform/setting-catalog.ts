/**
 * Every environment variable of the service, with what an operator must know about it. `settings.ts` and its neighbors
 * read the variables. `npm run docs:settings` generates `docs/settings.md` from this table. The file is long because it
 * is one table with a row for each variable.
 */
export interface SettingEntry {
  /** Form of the value. */
  readonly type: string
  /** Default value. If absent, the feature is off, or `meaning` describes the default. */
  readonly fallback?: string
  readonly example: string
  readonly meaning: string
  /** Whether the value is a secret: pages and commands never show it, and `NAME_FILE` can name a file with it. */
  readonly isSecret?: true
}

const origin = 'URL without a path'
const pem = 'path of a PEM file'
const milliseconds = 'milliseconds'
const days = 'days, 1 to 3650'
const basisPoints = 'basis points, 0 to 10000'

/** Settings by group, in the order of `docs/settings.md`. */
export const SETTING_GROUPS = {
  'Processes and ports': {
    NODE_ENV: {
      type: '`production` or any other text',
      example: 'production',
      meaning:
        'With `production`, the service listens on all addresses, accepts TLS 1.3 only, and refuses development settings.',
    },
    HOST: {
      type: 'address to listen on',
      example: '10.0.0.5',
      meaning: 'Address that all listeners bind to. Default: `127.0.0.1`, or `0.0.0.0` in production.',
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
    NETWORK_PORT: {
      type: 'port; 0 for any free port',
      fallback: '4030',
      example: '8030',
      meaning:
        'Port for card processors (`docs/network.md`). A process without `--role network` opens it only if this variable is set.',
    },
    NETWORK_ISO8583_PORT: {
      type: 'port; 0 for any free port',
      example: '8583',
      meaning:
        'TLS port for card networks that send ISO 8583 messages (`docs/iso8583.md`). Used only by processes with the role `network`.',
    },
    NETWORK_ISO8583_DIALECT: {
      type: '`ascii` or `bcd`',
      fallback: 'ascii',
      example: 'bcd',
      meaning: 'How the card network writes ISO 8583 messages.',
    },
    SANDBOX_BASE_URL: {
      type: origin,
      example: 'https://sandbox.example.com',
      meaning:
        'Public address of the sandbox API. The database stores it for all processes until a later start sets a different one.',
    },
    LIVE_BASE_URL: {
      type: origin,
      example: 'https://api.example.com',
      meaning: 'Public address of the live API, stored like `SANDBOX_BASE_URL`.',
    },
    CONSOLE_BASE_URL: {
      type: origin,
      example: 'https://dashboard.example.com',
      meaning: 'Public address of the dashboard, stored like `SANDBOX_BASE_URL`.',
    },
    TLS_CERT: {
      type: pem,
      example: '/etc/dateline/tls.crt',
      meaning: 'Certificate of all listeners. Requires `TLS_KEY`.',
    },
    TLS_KEY: {
      type: pem,
      example: '/etc/dateline/tls.key',
      meaning: 'Private key of `TLS_CERT`.',
    },
    NETWORK_TLS_CERT: {
      type: pem,
      example: '/etc/dateline/network.crt',
      meaning:
        'Certificate of the network listener. Requires `NETWORK_TLS_KEY`. Default: `TLS_CERT`, or a certificate that is generated below `DATA_DIR` in development.',
    },
    NETWORK_TLS_KEY: {
      type: pem,
      example: '/etc/dateline/network.key',
      meaning: 'Private key of `NETWORK_TLS_CERT`.',
    },
    TRUSTED_PROXIES: {
      type: 'number of proxies, or addresses and networks',
      fallback: '0',
      example: '10.0.0.0/8, ::1',
      meaning: 'Proxies whose `X-Forwarded-For` header the service trusts.',
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
        'Direct connection to the same database with the same user, if `DATABASE_URL` goes through PgBouncer in transaction mode. Each process uses one such connection to receive notifications, and migrations use it. Without it, workers find deliveries and revocations by polling, and the service refuses to start if migrations are missing.',
    },
    DATABASE_POOL_SIZE: {
      type: 'number, 1 to 1000',
      fallback: '16',
      example: '32',
      meaning: 'Maximum number of connections in each pool of a process.',
    },
    SVC_PREPARED_STATEMENTS: {
      type: '`on` or `off`',
      fallback: 'on',
      example: 'off',
      meaning: 'Whether to use prepared statements. Set it to `off` if PgBouncer does not support them.',
    },
    SVC_CITUS: {
      type: '`on` or `off`',
      fallback: 'off',
      example: 'on',
      meaning: 'Whether to distribute tenant tables over a Citus cluster after the migrations.',
    },
    SVC_PEPPER: {
      type: 'text; in production at least 16 characters',
      example: 'a3f1c0de5e7b4c2e9d1f0a8b7c6d5e4f',
      isSecret: true,
      meaning:
        'Key of all digests and encrypted values. Create one with `openssl rand -hex 32`. Required with `DATABASE_URL`; the embedded database has its own. If you lose it, API keys no longer work and card numbers cannot be decrypted.',
    },
    DATA_DIR: {
      type: 'folder',
      fallback: '.data',
      example: '/var/lib/dateline',
      meaning: 'Folder of the embedded PostgreSQL and of generated development keys.',
    },
    BACKUP_DIR: {
      type: 'folder',
      example: '/mnt/backup/dateline',
      meaning:
        'Folder of the backups of the embedded PostgreSQL, which archives its changes there at least once a minute (`docs/operations/backup.md`). Use a different disk than `DATA_DIR`. Ignored with `DATABASE_URL`.',
    },
    REDIS_URL: {
      type: 'URL that starts with `redis://` or `rediss://`',
      example: 'redis://cache.internal:6379',
      isSecret: true,
      meaning:
        'Lets several processes share rate limits and concurrency limits. While Redis is unavailable, each process enforces a part of each limit.',
    },
  },
  Monitoring: {
    METRICS_PORT: {
      type: 'port; 0 for any free port',
      example: '9400',
      meaning:
        'Port for `/metrics`, `/livez` and `/readyz` of this process, with any role (`docs/operations/monitoring.md`). Without it, only the console port has `/metrics`.',
    },
    SVC_OPERATOR_TOKEN: {
      type: 'text, at least 32 characters in production',
      example: '6f1d8a…',
      isSecret: true,
      meaning:
        'Token that `/metrics` and the page `/status` require, as a Bearer token or as the password of Basic authentication. Without it, `/metrics` is open, and production has no `/status`.',
    },
    SVC_VERIFY_SECONDS: {
      type: 'seconds, 0 to 2592000',
      fallback: '86400',
      example: '43200',
      meaning:
        'Time between two verifications of all ledgers and audit logs by a process with the role `worker`. 0 turns them off.',
    },
  },
  'Limits, timeouts and logs': {
    LOG_LEVEL: {
      type: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
      fallback: 'info',
      example: 'warn',
      meaning: 'Lowest level to log.',
    },
    SVC_REQUEST_LOG: {
      type: '`all`, `failed` or `off`',
      fallback: 'failed',
      example: 'all',
      meaning: 'Requests to write to the process log.',
    },
    OTEL_EXPORTER_OTLP_ENDPOINT: {
      type: 'URL',
      example: 'http://collector.internal:4318',
      meaning:
        'OTLP receiver (HTTP with protobuf) to which traces are exported, without `/v1/traces` (`docs/operations/tracing.md`).',
    },
    OTEL_EXPORTER_OTLP_HEADERS: {
      type: '`name=value`, separated by commas',
      example: 'authorization=Basic%20dXNlcjpzZWNyZXQ%3D',
      isSecret: true,
      meaning: 'Headers of export requests. Values are percent-encoded.',
    },
    OTEL_SERVICE_NAME: {
      type: 'text',
      fallback: 'wallet-pass-service',
      example: 'wallet-api',
      meaning: 'Name of the service in traces.',
    },
    OTEL_TRACES_SAMPLER_ARG: {
      type: 'number, 0 to 1',
      fallback: '0.1',
      example: '0.01',
      meaning: 'Share of requests whose traces are recorded.',
    },
    SVC_TRACE_CALLERS_PER_SECOND: {
      type: 'number, 0 to 100000',
      fallback: '10',
      example: '0',
      meaning:
        'Traces per second of a process that are recorded, in addition to that share, because the caller set the sampled flag of `traceparent`.',
    },
    TRACE_URL: {
      type: 'URL with `{trace_id}`',
      example: 'https://tempo.example.com/trace/{trace_id}',
      meaning: 'Page of a trace, to which the request log of the dashboard links.',
    },
    SVC_MAX_REQUESTS: {
      type: 'number, 1 to 1000000',
      fallback: '2000',
      example: '500',
      meaning: 'Maximum number of requests in progress in each environment. Further requests get 503.',
    },
    SVC_MAX_LOOP_DELAY_MS: {
      type: milliseconds,
      fallback: '500',
      example: '200',
      meaning: 'Event loop delay above which new requests get 503.',
    },
    SVC_MAX_QUEUE: {
      type: 'number, 1 to 1000000',
      fallback: '500',
      example: '200',
      meaning:
        'Maximum number of transactions that wait for a connection of a pool. Above it, the tenants with the most waiting transactions get 503.',
    },
    SVC_MAX_HEAP_PERCENT: {
      type: 'percent, 10 to 100',
      fallback: '85',
      example: '70',
      meaning: 'Heap usage above which new requests get 503.',
    },
    SVC_HEADERS_TIMEOUT_MS: {
      type: milliseconds,
      fallback: '20000',
      example: '10000',
      meaning: 'Time limit for a client to send the headers of a request.',
    },
    SVC_REQUEST_TIMEOUT_MS: {
      type: milliseconds,
      fallback: '60000',
      example: '30000',
      meaning: 'Time limit for a client to send a whole request.',
    },
    SVC_BODY_TIMEOUT_MS: {
      type: milliseconds,
      fallback: '10000',
      example: '5000',
      meaning:
        'Time limit for reading the body of an API request, which occupies a concurrency slot of the tenant.',
    },
    SVC_ANSWER_TIMEOUT_MS: {
      type: milliseconds,
      fallback: '35000',
      example: '20000',
      meaning: 'Time limit for responding to a request.',
    },
    SVC_DRAIN_TIMEOUT_MS: {
      type: milliseconds,
      fallback: '25000',
      example: '10000',
      meaning: 'Time limit for requests and jobs in progress to finish after a stop signal.',
    },
    SVC_LEAVE_MS: {
      type: milliseconds,
      fallback: '0',
      example: '5000',
      meaning:
        'Time between a stop signal and the closing of the ports. During this time `/readyz` fails, so that a load balancer stops sending requests.',
    },
    SVC_NETWORK_DEADLINE_MS: {
      type: 'milliseconds, 100 to 60000',
      fallback: '2000',
      example: '1500',
      meaning:
        'Time in which a message of a card network is answered, from its arrival. After it, the answer is `unavailable` and nothing is stored.',
    },
    SVC_NETWORK_SIMULATOR: {
      type: '`on` or `off`',
      fallback: 'off',
      example: 'on',
      meaning:
        'Whether live accepts the messages of `npm run network` (`docs/network-simulator.md`). Refused in production. All dashboard pages show a notice.',
    },
    SVC_EVENT_DAYS: {
      type: days,
      fallback: '30',
      example: '90',
      meaning:
        'Retention of live events and their delivery attempts. The sandbox keeps its events until it is wiped.',
    },
    SVC_SCAN_DAYS: { type: days, fallback: '400', example: '730', meaning: 'Retention of live scans.' },
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
      meaning:
        'DNS servers that resolve the host names of webhook URLs. Default: the DNS servers of the system.',
    },
  },
  'Apple Wallet': {
    APPLE_PASS_CERTIFICATE: {
      type: pem,
      example: '/etc/dateline/pass.pem',
      meaning:
        'Certificate of the pass type. Requires `APPLE_PASS_KEY` and `APPLE_PASS_WWDR`. Without these three, passes are signed with a development certificate in `DATA_DIR/wallet`, which no device accepts.',
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
      meaning: 'Apple’s intermediate certificate that issued `APPLE_PASS_CERTIFICATE`.',
    },
    APPLE_PASS_TYPE: {
      type: 'pass type identifier',
      example: 'pass.com.example.club',
      meaning: 'Pass type that the certificate must be for. If it differs, the service does not start.',
    },
    APPLE_PASS_TEAM: {
      type: 'team identifier',
      example: 'A1B2C3D4E5',
      meaning: 'Team that the certificate must be for. If it differs, the service does not start.',
    },
    APPLE_PASS_NFC: {
      type: '`on` or `off`',
      fallback: 'off',
      example: 'on',
      meaning:
        'Whether the certificate of the pass type has Apple’s entitlement for NFC. Without it, templates with `nfc` are refused, because no device accepts their passes.',
    },
    APPLE_PUSH_KEY: {
      type: 'path of a `.p8` file',
      example: '/etc/dateline/AuthKey_ABC123DEFG.p8',
      meaning:
        'Key that authenticates the service at APNs. Requires `APPLE_PUSH_KEY_ID`. Without it, the pass certificate authenticates the service.',
    },
    APPLE_PUSH_KEY_ID: {
      type: '10 characters',
      example: 'ABC123DEFG',
      meaning: 'Key ID of `APPLE_PUSH_KEY`.',
    },
    APPLE_PUSH_URL: {
      type: origin,
      example: 'https://api.sandbox.push.apple.com',
      meaning: 'Push server to use instead of Apple’s production server.',
    },
    APPLE_PAY_ROOTS: {
      type: pem,
      example: '/etc/dateline/apple-root-g3.pem',
      meaning:
        'Root certificates of the devices for which cards are encrypted (Apple Root CA - G3). Default: development roots, or none in production.',
    },
  },
  'Google Wallet': {
    GOOGLE_WALLET_ISSUER: {
      type: 'number',
      example: '3388000000012345678',
      meaning:
        'Issuer ID. Requires `GOOGLE_WALLET_SERVICE_ACCOUNT`. Without both, a development key signs links, and calls go to a fake Google Wallet; production makes no calls.',
    },
    GOOGLE_WALLET_SERVICE_ACCOUNT: {
      type: 'path of a JSON file',
      example: '/etc/dateline/google.json',
      meaning: 'Key file of the service account.',
    },
    GOOGLE_WALLET_URL: {
      type: origin,
      example: 'https://walletobjects.example.com',
      meaning: 'Origin to use instead of the Google Wallet API.',
    },
    GOOGLE_TOKEN_URL: {
      type: 'URL',
      example: 'https://oauth2.example.com/token',
      meaning: 'URL to use instead of Google’s token endpoint.',
    },
    GOOGLE_CALLBACK_KEYS_URL: {
      type: 'URL',
      example: 'https://pay.example.com/keys',
      meaning: 'URL to use instead of Google’s keys for signed callbacks.',
    },
    GOOGLE_PAY_KEY: {
      type: pem,
      example: '/etc/dateline/network.pem',
      meaning:
        'Public key of the card network for which cards are encrypted in Google Pay. Default: a development key, or none in production.',
    },
  },
  'Cards and compliance': {
    SVC_CARD_SECRET: {
      type: 'text; in production at least 16 characters',
      example: '7f0d2b9e64c14d0f8a55e3c1b2a49d76',
      isSecret: true,
      meaning:
        'Key of all card numbers, for processes with the roles `network` and `reveal` only; `docs/pci.md` describes it. Create one with `openssl rand -hex 32`. In production, required with `--role network` and `--role reveal`; without `--role`, the pepper replaces it. The embedded database has its own. If you lose it, card numbers cannot be decrypted.',
    },
    SVC_CARD_SECRET_PREVIOUS: {
      type: 'text',
      example: '1b6e8a0f3d5c47729e8b4a6d2c0f1e35',
      isSecret: true,
      meaning:
        'The secret of card numbers before, while you replace it (`docs/pci.md`). Keys that it sealed can be opened, and none is sealed with it.',
    },
    REVEAL_PORT: {
      type: 'port; 0 for any free port',
      example: '4040',
      meaning:
        'Port at which a process with the role `reveal` creates and opens card numbers for the other processes. Default: 4040 with `--role reveal`; without `--role`, the port is closed.',
    },
    REVEAL_HOST: {
      type: 'address to listen on',
      fallback: '127.0.0.1',
      example: '10.0.0.7',
      meaning: 'Address that the port binds to.',
    },
    REVEAL_URL: {
      type: origin,
      example: 'https://reveal.internal:4040',
      meaning:
        'Origin of a process with the role `reveal`, for processes without the roles `network` and `reveal`. In production, `http` is allowed for this machine only. Without it, such a process opens card numbers itself, as long as the deployment has no `SVC_CARD_SECRET`.',
    },
    SVC_SANCTIONS_LIST: {
      type: 'folder, or path of `sdn.csv`',
      example: '/var/lib/dateline/ofac',
      meaning:
        'OFAC’s list: `sdn.csv`, `alt.csv`, `add.csv` and `sdn_comments.csv`. The service reloads changed files within 10 seconds. Default: a short list of invented names.',
    },
    SVC_LICENSED_STATES: {
      type: 'two-letter codes',
      example: 'CA,NY',
      meaning: 'US states in which live cardholders with a US address may live. Default: all states.',
    },
    SVC_INTERCHANGE_BP: {
      type: basisPoints,
      fallback: '150',
      example: '140',
      meaning:
        'Your share of the interchange on each new clearing. With `SVC_INTERCHANGE_TABLE`, applies to clearings that no row matches.',
    },
    SVC_INTERCHANGE_TABLE: {
      type: 'path of a JSON file',
      example: '/etc/dateline/interchange.json',
      meaning:
        'Interchange by merchant category, entry method and region; `docs/clearing.md` describes the rows. Default: `SVC_INTERCHANGE_BP` for all clearings.',
    },
    SVC_NETWORK_FEE_BP: {
      type: basisPoints,
      fallback: '10',
      example: '12',
      meaning: 'Network fee on each new clearing.',
    },
  },
  Payouts: {
    SVC_BANK_URL: {
      type: 'URL',
      example: 'https://bank.example.com/v1',
      meaning:
        'API of the bank that makes live payouts in dollars; `docs/settlement.md` describes it. Requires `SVC_BANK_TOKEN`. Default: a fake bank, or no bank payouts in production.',
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
        'JSON-RPC endpoint of the chain for USDC payouts. Requires `SVC_USDC_ADDRESS`. Without it, the sandbox starts a local test chain, and live cannot pay out USDC.',
    },
    SVC_USDC_ADDRESS: {
      type: 'address, `0x` and 40 hexadecimal digits',
      example: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      meaning: 'Address of the USDC contract on that chain.',
    },
    SVC_CHAIN_ID: {
      type: 'number',
      example: '8453',
      meaning: 'Chain ID that the node must report (EIP-155). Default: any.',
    },
    SVC_CHAIN_CONFIRMATIONS: {
      type: 'blocks, 1 to 1000',
      fallback: '12',
      example: '20',
      meaning: 'Number of confirmations after which a payout counts as paid.',
    },
    SVC_CHAIN_MAX_FEE_GWEI: {
      type: 'gwei, 1 to 1000000',
      fallback: '500',
      example: '50',
      meaning: 'Maximum gas price. While the price is higher, no payout is sent.',
    },
    SVC_ALLOW_TEST_CHAIN: {
      type: '`on` or `off`',
      fallback: 'off',
      example: 'on',
      meaning:
        'Whether live may pay out on a test chain or with a publicly known key. Without it, production refuses both. All dashboard pages show a notice.',
    },
    SVC_PAYOUT_KEY: {
      type: '64 hexadecimal digits',
      example: '4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318',
      isSecret: true,
      meaning: 'Private key that signs USDC payouts. Set either it or `SVC_PAYOUT_SIGNER_URL`.',
    },
    SVC_PAYOUT_SIGNER_URL: {
      type: 'URL',
      example: 'https://signer.internal:8443/sign',
      meaning:
        'External signer: your program that holds the key and signs payouts (`docs/payout-signer.md`).',
    },
    SVC_PAYOUT_SIGNER_TOKEN: {
      type: 'text',
      example: 's1gner-t0ken',
      isSecret: true,
      meaning: 'Bearer token for the external signer.',
    },
  },
  Tests: {
    SVC_CLOCK: {
      type: 'ISO 8601 instant',
      example: '2027-02-02T00:00:00Z',
      meaning: 'Start time of the service clock. Refused in production.',
    },
    SVC_MIGRATIONS_DIR: {
      type: 'folder',
      example: 'test/migrations',
      meaning:
        'Folder of migrations to run instead of those of the service, to test upgrades. Refused in production.',
    },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, SettingEntry>>>>

type Groups = typeof SETTING_GROUPS

type Entries = { [G in keyof Groups]: Groups[G] }[keyof Groups]
type NamesIn<E> = E extends unknown ? keyof E : never
type SecretsIn<E> = E extends unknown
  ? { [N in keyof E]: E[N] extends { readonly isSecret: true } ? N : never }[keyof E]
  : never

export type SettingName = NamesIn<Entries>

/** A setting whose value is secret. */
export type SecretName = SecretsIn<Entries>

/** Environment variables, such as those of the process. */
export type SettingVariables = Readonly<
  Partial<Record<SettingName | `${SecretName}_FILE`, string | undefined>>
>

/** Every setting, by its name. */
export const SETTINGS: Readonly<Record<SettingName, SettingEntry>> = Object.assign(
  {},
  ...Object.values(SETTING_GROUPS),
)

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]

export const isSecret = (name: SettingName): name is SecretName => SETTINGS[name].isSecret === true
