const DATABASE = [
  'NODE_ENV',
  'LOG_LEVEL',
  'DATA_DIR',
  'DATABASE_URL',
  'DATABASE_OWNER_URL',
  'DATABASE_SEALER_URL',
  'DATABASE_SESSION_URL',
  'DATABASE_POOL_SIZE',
  'DATABASE_ALLOW_UNSAFE',
  'LOG_SIGNING_KEY',
  'LOG_RETIRED_KEYS',
  'CHECKPOINT_FILE',
  'DUAL_CONTROL',
  'OIDC_ISSUER',
  'OIDC_CLIENT_ID',
] as const;

/** The variables of each command. All others keep their defaults, unchecked. */
export const COMMAND_VARIABLES = {
  /** For calls to a running proxy. */
  client: ['PORT', 'DATA_DIR', 'PUBLIC_URL'],
  /** For work on the database. */
  database: DATABASE,
  /** For work on the database, and for reconciliation runs. */
  runs: [
    ...DATABASE,
    'UPSTREAM_STATUS_WORDS',
    'RECONCILIATION_AMOUNT_TOLERANCE_USD',
    'RECONCILIATION_BALANCE_TOLERANCE_USD',
    'RECONCILIATION_FEE_PERCENT',
    'RECONCILIATION_FEE_TOLERANCE_USD',
    'RECONCILIATION_TIME_TOLERANCE_SECONDS',
    'RECONCILIATION_LATE_AFTER_SECONDS',
  ],
} as const;
