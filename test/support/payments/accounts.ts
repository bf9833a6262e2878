import { ClientsService } from '../../../src/access/clients/clients.service';
import { Scope } from '../../../src/operations/catalogue/scopes';
import { RunningConfig } from '../../../src/platform/config/config';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { UpstreamAccountConfig } from '../../../src/platform/config/upstream/upstream-accounts';
import { createSandbox } from '../../../src/sandbox/app';
import { createTestDatabase } from '../databases/test-database';
import { startProxy, UPSTREAM_KEY } from '../processes/proxy';
import { askSandbox } from '../sandbox/sandbox-answers';

const CONTROL_KEY = 'sandbox-control';

/** An account opened by a sandbox, as needed by a proxy. */
export interface OpenedAccount extends UpstreamAccountConfig {
  /** Its ID at the sandbox. */
  id: string;
}

/** Opens another account at a sandbox, with its own money. */
async function openAccount(
  url: string,
  name: string,
  more: Partial<UpstreamAccountConfig> = {},
): Promise<OpenedAccount> {
  const asked = askSandbox(url).post('/_sandbox/accounts').set('X-Sandbox-Control-Key', CONTROL_KEY);
  const { body } = await asked.send({ name, openingBalance: 1_000 }).expect(201);
  const { id, apiKey } = body as { id: string; apiKey: string };
  const account = {
    name,
    baseUrl: url,
    apiKey: new Secret(apiKey),
    webhookSecret: undefined,
    fees: new Map<string, string>(),
  };
  return { id, ...account, subAccount: undefined, wallet: undefined, ...more };
}

/** A proxy whose sandbox has one account for each name, in addition to `main`. */
export async function startProxyWithAccounts<Name extends string>(
  names: readonly Name[],
  {
    settings = {},
    more = {},
  }: { settings?: Partial<RunningConfig>; more?: Partial<Record<Name, Partial<UpstreamAccountConfig>>> } = {},
) {
  const database = await createTestDatabase();
  const sandbox = await createSandbox({ databaseUrl: database.sandboxUrl, port: 0, apiKey: UPSTREAM_KEY });
  const opened = await Promise.all(names.map((name) => openAccount(sandbox.url, name, more[name])));
  const base = { upstreamBaseUrl: sandbox.url, checkCoverage: true, namedAccounts: opened };
  const proxy = await startProxy({ ...base, ...settings }, database);
  return {
    ...proxy,
    sandbox,
    accounts: Object.fromEntries(opened.map((account) => [account.name, account])) as Record<
      Name,
      OpenedAccount
    >,
    /** Creates a client of an account with these scopes, and returns its key. */
    clientOf: (account: Name | 'main', name: string, ...scopes: Scope[]) =>
      proxy.app.get(ClientsService, { strict: false }).create(name, scopes, { account }),
    close: async () => {
      await proxy.close();
      await sandbox.close();
      await database.close();
    },
  };
}
