import {
  ArrayUnique,
  IsEmail,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  IsUrl,
  Matches,
  Max,
  Min,
  MinLength,
} from 'class-validator';
import { ArePageSecrets } from '../secrets/page-secrets';
import {
  Amounts,
  AreAddresses,
  AreAmounts,
  AreByOperation,
  AreDeadlines,
  AreFieldNames,
  AreOrigins,
  AreProxyExceptions,
  ByOperation,
  Deadlines,
  isBaseUrl,
  IsCronExpression,
  IsDatabaseUrl,
  IsDecimalText,
  IsHeaderValue,
  IsProxyUrl,
  IsWebhookSecret,
  AreSigningKeys,
  AreVerifierKeys,
  Numeric,
  RulesByOperation,
  Words,
} from './environment-rules';

const ID_RULE = '$property must have 1 to 200 printable ASCII characters without spaces';
const ACCOUNTS_RULE =
  '$property must be a comma-separated list of names. A name has at most 24 lower-case letters, digits, ' +
  'and hyphens, begins with a letter, and is not main';

/** A word of OAuth (RFC 6749, section 3.3), without the comma that separates it here. */
const SCOPE = /^[\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,200}$/;
const SCOPES_RULE =
  '$property must be a comma-separated list of words without spaces, quotes, and backslashes';

/** The form of an account's name. The account `main` always exists. */
export const ACCOUNT_NAME = /^(?!main$)[a-z][a-z0-9-]{0,23}$/;

/** The operator's environment. `variables.ts` describes each variable. */
export class Environment {
  @IsOptional() @IsIn(['development', 'production', 'test']) NODE_ENV = 'development';
  @Numeric() @IsInt() @Min(0) @Max(65_535) PORT = 3000;
  @IsOptional() @Numeric() @IsInt() @Min(0) @Max(65_535) METRICS_PORT?: number;
  @IsOptional() @IsString() HOST?: string;
  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'silent']) LOG_LEVEL = 'info';
  @IsString() @MinLength(1) DATA_DIR = '.data';

  @IsIn(['true', 'false']) START_WORKER = 'true';
  @Numeric() @IsInt() @Min(0) @Max(65_535) WORKER_PORT = 3001;

  @IsOptional() @IsDatabaseUrl('writing') DATABASE_URL?: string;
  @IsOptional() @IsDatabaseUrl('writing') DATABASE_OWNER_URL?: string;
  @IsOptional() @IsDatabaseUrl('writing') DATABASE_SEALER_URL?: string;
  @IsOptional() @IsDatabaseUrl('writing') DATABASE_SESSION_URL?: string;
  @IsOptional() @IsDatabaseUrl('reading') DATABASE_REPLICA_URL?: string;
  @IsOptional() @IsIn(['true', 'false']) MIGRATE_ON_START?: string;
  @Numeric() @IsInt() @Min(2) @Max(200) DATABASE_POOL_SIZE = 10;
  @Words()
  @IsIn(['fsync', 'full_page_writes', 'synchronous_commit', 'no_tls'], { each: true })
  DATABASE_ALLOW_UNSAFE: string[] = [];
  // some seconds of payments at full speed
  @Numeric() @IsInt() @Min(0) @Max(1_000_000) MIN_FREE_SPACE_MB = 128;
  // the outcomes of all calls in flight, with their WAL
  @Numeric() @IsInt() @Min(0) @Max(10_000) DATABASE_RESERVE_MB = 64;
  // synchronized clocks differ by milliseconds
  @Numeric() @IsInt() @Min(1) @Max(604_800) MAX_CLOCK_SKEW_SECONDS = 10;

  @IsOptional() @AreSigningKeys() LOG_SIGNING_KEY?: string;

  @Words() @AreVerifierKeys() LOG_RETIRED_KEYS: string[] = [];
  @IsOptional() @IsString() CHECKPOINT_FILE?: string;

  @IsOptional() @IsUrl(isBaseUrl) UPSTREAM_BASE_URL?: string;
  @IsOptional() @IsHeaderValue() UPSTREAM_API_KEY?: string;
  @IsOptional() @Matches(/^[\x21-\x7e]{1,200}$/, { message: ID_RULE }) UPSTREAM_SUB_ACCOUNT?: string;
  @IsOptional() @Matches(/^[\x21-\x7e]{1,200}$/, { message: ID_RULE }) UPSTREAM_WALLET?: string;
  @Words()
  @Matches(ACCOUNT_NAME, { each: true, message: ACCOUNTS_RULE })
  @ArrayUnique()
  UPSTREAM_ACCOUNTS: string[] = [];
  // a batch of 1,000 payouts may be slow
  @Numeric() @IsInt() @Min(100) @Max(600_000) UPSTREAM_TIMEOUT_MS = 30_000;
  @Numeric() @IsInt() @Min(50) @Max(60_000) UPSTREAM_CONNECT_TIMEOUT_MS = 3_000;
  @Numeric() @IsInt() @Min(1) @Max(1_024) UPSTREAM_CONNECTIONS = 64;
  // 1,000 items answer in 1 MiB
  @Numeric() @IsInt() @Min(1_024) @Max(67_108_864) UPSTREAM_MAX_RESPONSE_BYTES = 8_388_608;

  @Matches(/^[a-z][a-z0-9]{1,31}$/) UPSTREAM_UNIT_NAME = 'credit';
  @Words() UPSTREAM_STATUS_WORDS: string[] = []; // src/operations/lifecycle/statuses.ts checks them
  @IsOptional() @IsProxyUrl() HTTP_PROXY?: string;
  @IsOptional() @IsProxyUrl() HTTPS_PROXY?: string;
  @Words() @AreProxyExceptions() NO_PROXY: string[] = [];
  // countries and networks change rarely
  @Numeric() @IsInt() @Min(0) @Max(86_400) INFO_CACHE_TTL_SECONDS = 300;
  @IsIn(['true', 'false']) CHECK_COVERAGE = 'true';
  @IsIn(['durable', 'relaxed']) OUTCOMES: 'durable' | 'relaxed' = 'durable';

  @IsIn(['true', 'false']) DUPLICATE_GUARD = 'true';
  // longer than a double click or a retry
  @Numeric() @IsInt() @Min(0) @Max(86_400) DUPLICATE_WINDOW_SECONDS = 30;
  @Numeric() @IsInt() @Min(0) @Max(86_400) DUPLICATE_ACROSS_CLIENTS_SECONDS = 0;
  @Numeric() @IsInt() @Min(1) @Max(31_536_000) APPROVAL_EXPIRES_AFTER_SECONDS = 86_400;
  @Numeric() @IsInt() @Min(1) @Max(31_536_000) QUEUE_EXPIRES_AFTER_SECONDS = 86_400;
  // a burst of 1,000 payments. Their bodies have 32 MiB at most
  @Numeric() @IsInt() @Min(0) @Max(100_000) UPSTREAM_QUEUE = 2_048;
  @Deadlines() @AreDeadlines() UPSTREAM_TIMEOUTS: ReadonlyMap<string, number> = new Map();
  @RulesByOperation()
  @AreByOperation('rules, each once, such as POST /payouts/airtime=1.5%+0.05')
  UPSTREAM_FEES: ReadonlyMap<string, string> = new Map(); // src/operations/items/fees.ts checks them
  @Words() @AreOrigins() PUBLIC_URL: string[] = [];
  @Words() @AreAddresses() TRUSTED_PROXIES: string[] = [];
  @Numeric() @IsInt() @Min(0) @Max(600_000) DRAIN_MS = 1_000;
  @Numeric() @IsInt() @Min(500) @Max(30_000) REQUEST_DEADLINE_MS = 2_000;

  @Numeric() @IsInt() @Min(1) @Max(10_000) MAX_ITEMS = 1_000;
  @Numeric() @IsInt() @Min(1_024) @Max(16_777_216) MAX_BODY_BYTES = 1_048_576;
  @Words() @AreFieldNames() EXTRA_FIELDS_ALLOWED: string[] = [];

  @IsOptional() @IsIn(['true', 'false']) DUAL_CONTROL?: string;
  @Numeric() @IsInt() @Min(1) @Max(720) CONSOLE_IDLE_MINUTES = 30;
  // a provider is repaired within an hour
  @Numeric() @IsInt() @Min(60) @Max(86_400) PROVIDER_KEYS_MAX_AGE_SECONDS = 3_600;

  @IsOptional() @IsUrl(isBaseUrl) OIDC_ISSUER?: string;
  @IsOptional() @Matches(/^[\x21-\x7e]{1,200}$/, { message: ID_RULE }) OIDC_CLIENT_ID?: string;
  @IsOptional() @IsHeaderValue() OIDC_CLIENT_SECRET?: string;
  @Words() @Matches(SCOPE, { each: true, message: SCOPES_RULE }) OIDC_SCOPES: string[] = ['openid'];
  @IsOptional() @IsIn(['true', 'false']) CONSOLE_KEY_SIGN_IN?: string;
  // shorter than it takes to decide, it would never end
  @IsOptional() @Numeric() @IsInt() @Min(30) @Max(86_400) STEP_UP_MAX_AGE_SECONDS?: number;
  @Words() @Matches(SCOPE, { each: true, message: SCOPES_RULE }) STEP_UP_ACR: string[] = [];
  @IsDecimalText() STEP_UP_OVER_USD = '0';
  @IsOptional() @ArePageSecrets() PAGE_CLIENT_SECRETS?: string;
  @Numeric() @IsInt() @Min(1) @Max(720) PAGE_IDLE_MINUTES = 30;

  @IsOptional() @IsHeaderValue() @IsWebhookSecret() UPSTREAM_WEBHOOK_SECRET?: string;
  @IsOptional() @IsCronExpression() RECONCILIATION_SCHEDULE?: string;
  @IsDecimalText() RECONCILIATION_AMOUNT_TOLERANCE_USD = '0';
  // balances are floats (docs/reference/upstream.md, trap 3)
  @IsDecimalText() RECONCILIATION_BALANCE_TOLERANCE_USD = '0.000001';
  @IsDecimalText() RECONCILIATION_FEE_PERCENT = '0';
  @IsDecimalText() RECONCILIATION_FEE_TOLERANCE_USD = '0.01';
  @Numeric() @IsInt() @Min(1) @Max(86_400) RECONCILIATION_TIME_TOLERANCE_SECONDS = 900;
  @Numeric() @IsInt() @Min(1) @Max(2_592_000) RECONCILIATION_LATE_AFTER_SECONDS = 300;
  @IsIn(['true', 'false']) RECONCILIATION_STATEMENTS_SETTLE = 'false';
  // all transactions, in one answer
  @Numeric() @IsInt() @Min(1_000) @Max(3_600_000) RECONCILIATION_LISTING_TIMEOUT_MS = 600_000;
  @Numeric() @IsInt() @Min(0) @Max(86_400) WALLETS_EVERY_SECONDS = 900;
  @Amounts() @AreAmounts() WALLET_LOW_BALANCE_USD: ReadonlyMap<string, string> = new Map();
  @Numeric() @IsInt() @Min(0) @Max(86_400) RESOLVER_EVERY_SECONDS = 10;
  @Numeric() @IsInt() @Min(0) @Max(86_400) FOLLOW_UP_EVERY_SECONDS = 300;
  @Numeric() @IsInt() @Min(1) @Max(365) FOLLOW_UP_DAYS = 30;
  // longer than the latest execution of a request that was ever seen
  @Numeric() @IsInt() @Min(1) @Max(604_800) RESOLVER_QUIET_SECONDS = 900;
  // longer than the latest execution after such an answer
  @Numeric() @IsInt() @Min(1) @Max(604_800) RESOLVER_REJECTED_QUIET_SECONDS = 30;
  @IsOptional() @IsEmail() RESOLVER_PROBE_EMAIL?: string;
  @ByOperation()
  @AreByOperation('the type or ID of a wallet, such as POST /payouts/airtime=airtime')
  PAYOUT_WALLETS: ReadonlyMap<string, string> = new Map();

  @IsOptional() @IsUrl(isBaseUrl) SCREENING_URL?: string;
  @IsOptional() @IsHeaderValue() @IsWebhookSecret() SCREENING_SECRET?: string;
  @Numeric() @IsInt() @Min(100) @Max(30_000) SCREENING_TIMEOUT_MS = 2_000; // each payout waits for it

  @Numeric() @IsInt() @Min(0) @Max(65_535) SANDBOX_PORT = 4010;
  @IsHeaderValue() SANDBOX_CONTROL_KEY = 'sandbox-control';
}
