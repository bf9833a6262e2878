import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { ACCOUNT_NAME, Environment } from '../environment/environment';
import { productionFaults } from '../environment/production';
import { Secret } from '../secrets/secret';

/** The default account of clients. Its variables begin with `UPSTREAM_`. */
export const MAIN_ACCOUNT = 'main';

/** Variables of each account. Those of `kenya-east` begin with `UPSTREAM_ACCOUNT_KENYA_EAST_`. */
const FIELDS = ['BASE_URL', 'API_KEY', 'WEBHOOK_SECRET', 'SUB_ACCOUNT', 'WALLET', 'FEES'] as const;

const PREFIX = 'UPSTREAM_ACCOUNT_';

/** The funds of an account: all wallets of a key, those of one sub-account, or one wallet. */
export interface AccountFunds {
  /** The sub-account of every request. Undefined for the account that owns the key. */
  readonly subAccount: string | undefined;
  /** The source wallet of transfers. Undefined lets the request choose. */
  readonly wallet: string | undefined;
}

/** An account at the upstream. Each client belongs to one. */
export interface UpstreamAccountConfig extends AccountFunds {
  readonly name: string;
  /** Without `/api/v0.1`. Undefined for the same as `main`. */
  readonly baseUrl: string | undefined;
  readonly apiKey: Secret;
  /** The secret that signs the account's events. Undefined accepts none. */
  readonly webhookSecret: Secret | undefined;
  /** Rules for fees by operation, such as `1.5%+0.05`. Those of `main` apply to all other operations. */
  readonly fees: ReadonlyMap<string, string>;
}

/** An account of a running proxy. */
export type RunningAccount = UpstreamAccountConfig & { readonly baseUrl: string };

/** Returns the accounts of a running proxy, `main` first. */
export function accountsOf(settings: {
  readonly upstreamBaseUrl: string;
  readonly upstreamApiKey: Secret;
  readonly upstreamWebhookSecret: Secret | undefined;
  readonly upstreamSubAccount: string | undefined;
  readonly upstreamWallet: string | undefined;
  readonly upstreamFees: ReadonlyMap<string, string>;
  readonly namedAccounts: readonly UpstreamAccountConfig[];
}): RunningAccount[] {
  const main = {
    name: MAIN_ACCOUNT,
    baseUrl: settings.upstreamBaseUrl,
    apiKey: settings.upstreamApiKey,
    webhookSecret: settings.upstreamWebhookSecret,
    subAccount: settings.upstreamSubAccount,
    wallet: settings.upstreamWallet,
    fees: settings.upstreamFees,
  };
  const named = settings.namedAccounts.map((account) => ({
    ...account,
    baseUrl: account.baseUrl ?? main.baseUrl,
  }));
  return [main, ...named];
}

/** Returns the names of the accounts, `main` first. */
export function accountNames({
  namedAccounts,
}: {
  readonly namedAccounts: readonly { name: string }[];
}): string[] {
  return [MAIN_ACCOUNT, ...namedAccounts.map(({ name }) => name)];
}

type Given = Readonly<Record<string, string | undefined>>;
type Field = (typeof FIELDS)[number];

/** Returns the name of a variable of an account, such as `UPSTREAM_ACCOUNT_KENYA_API_KEY`. */
export function accountVariable(account: string, field: Field): string {
  return account === MAIN_ACCOUNT ? `UPSTREAM_${field}` : `${PREFIX}${inVariables(account)}_${field}`;
}

/**
 * Reads the accounts other than `main`. Their variables follow the rules of `main`.
 * @returns the accounts with their faults. A fault names a variable and its rule, never its value.
 */
export function readAccounts(
  given: Given,
  main: Environment,
): { accounts: UpstreamAccountConfig[]; values: Record<string, string>; faults: string[] } {
  const names = main.UPSTREAM_ACCOUNTS.filter((name) => ACCOUNT_NAME.test(name));
  const known = names.flatMap((name) => FIELDS.map((field) => accountVariable(name, field)));
  const unknown = Object.keys(given).filter((name) => name.startsWith(PREFIX) && !known.includes(name));
  const read = names.map((name) => ({ name, ...readAccount(name, given, main.NODE_ENV) }));
  const sound = read.filter(({ faults }) => faults.length === 0);
  return {
    accounts: sound.map(({ name, env }) => accountOf(name, env)),
    values: Object.fromEntries(known.flatMap((name) => (given[name] ? [[name, given[name]]] : []))),
    faults: [
      ...unknown.map((name) => `${name} belongs to no account that UPSTREAM_ACCOUNTS names`),
      ...read.flatMap(({ faults }) => faults),
      ...sharedFunds([{ name: MAIN_ACCOUNT, env: main }, ...sound]),
    ],
  };
}

/** Reads an account as if its variables were those of `main`. */
function readAccount(account: string, given: Given, nodeEnv: string): { env: Environment; faults: string[] } {
  const values = FIELDS.map(
    (field) => [`UPSTREAM_${field}`, given[accountVariable(account, field)]] as const,
  );
  const set = Object.fromEntries(values.filter(([, value]) => value !== undefined));
  const env = plainToInstance(Environment, { NODE_ENV: nodeEnv, ...set }, { exposeDefaultValues: true });
  const broken = validateSync(env).flatMap(({ constraints }) => Object.values(constraints ?? {}));
  if (nodeEnv === 'production') broken.push(...productionFaults(env, []));
  const faults = broken.map((fault) => fault.replace('UPSTREAM_', `${PREFIX}${inVariables(account)}_`));
  if (!env.UPSTREAM_API_KEY) {
    faults.push(
      `${accountVariable(account, 'API_KEY')} is required, because UPSTREAM_ACCOUNTS names ${account}`,
    );
  }
  return { env, faults };
}

function accountOf(name: string, env: Environment): UpstreamAccountConfig {
  return {
    name,
    baseUrl: baseUrlOf(env),
    apiKey: new Secret(env.UPSTREAM_API_KEY ?? ''),
    webhookSecret:
      env.UPSTREAM_WEBHOOK_SECRET === undefined ? undefined : new Secret(env.UPSTREAM_WEBHOOK_SECRET),
    subAccount: env.UPSTREAM_SUB_ACCOUNT,
    wallet: env.UPSTREAM_WALLET,
    fees: env.UPSTREAM_FEES,
  };
}

function baseUrlOf(env: Environment): string | undefined {
  return env.UPSTREAM_BASE_URL?.replace(/\/+$/, '');
}

/** Returns faults of accounts with the same funds. Each would claim the other's payments in its listing. */
function sharedFunds([main, ...accounts]: [AccountVariable, ...AccountVariable[]]): string[] {
  const mainUrl = baseUrlOf(main.env);
  const fundsOf = ({ env }: AccountVariable) =>
    JSON.stringify([baseUrlOf(env) ?? mainUrl, env.UPSTREAM_API_KEY, env.UPSTREAM_SUB_ACCOUNT]);
  const first = new Map([[fundsOf(main), main.name]]);
  return accounts.flatMap((account) => {
    const other = first.get(fundsOf(account));
    first.set(fundsOf(account), account.name);
    if (other === undefined) return [];
    return (
      `the upstream accounts ${other} and ${account.name} must differ in their base address, API key or ` +
      'sub-account'
    );
  });
}

interface AccountVariable {
  name: string;
  env: Environment;
}

/** Returns the account's name in the form of its variables. */
function inVariables(account: string): string {
  return account.toUpperCase().replaceAll('-', '_');
}

/** Returns the settings of the upstream and its answers. */
export function toUpstreamConfig(env: Environment, namedAccounts: UpstreamAccountConfig[]) {
  return {
    upstreamBaseUrl: baseUrlOf(env),
    upstreamApiKey: env.UPSTREAM_API_KEY === undefined ? undefined : new Secret(env.UPSTREAM_API_KEY),
    upstreamSubAccount: env.UPSTREAM_SUB_ACCOUNT,
    upstreamWallet: env.UPSTREAM_WALLET,
    /** The accounts other than the one of the settings above. */
    namedAccounts: Object.freeze(namedAccounts),
    upstreamTimeoutMs: env.UPSTREAM_TIMEOUT_MS,
    upstreamConnectTimeoutMs: env.UPSTREAM_CONNECT_TIMEOUT_MS,
    upstreamConnections: env.UPSTREAM_CONNECTIONS,
    upstreamMaxResponseBytes: env.UPSTREAM_MAX_RESPONSE_BYTES,
    /** The provider's name for what the interface calls a credit. */
    upstreamUnitName: env.UPSTREAM_UNIT_NAME,
    /** Additional status words of the upstream, such as `settled_t2=paid`. */
    upstreamStatusWords: Object.freeze(env.UPSTREAM_STATUS_WORDS),
    /** Maximum number of requests that wait for a connection to the upstream. More are rejected. */
    upstreamQueue: env.UPSTREAM_QUEUE,
    /** Milliseconds by operation, if they differ from `upstreamTimeoutMs`. */
    upstreamTimeouts: env.UPSTREAM_TIMEOUTS,
    /** Rules for fees by operation, such as `1.5%+0.05`. The fees are reserved with the payouts. */
    upstreamFees: env.UPSTREAM_FEES,
    /** The secret that signs the upstream's events. Undefined accepts none. */
    upstreamWebhookSecret:
      env.UPSTREAM_WEBHOOK_SECRET === undefined ? undefined : new Secret(env.UPSTREAM_WEBHOOK_SECRET),
  };
}
