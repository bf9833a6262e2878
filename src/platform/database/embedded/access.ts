import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../config/config';
import { writePrivateJson } from '../../config/secrets/private-file';
import { Home } from './home';

/** The passwords and the port of the embedded databases, in the private file DATA_DIR/database.json. */
export interface EmbeddedAccess {
  port: number;
  ownerPassword: string;
  proxyPassword: string;
  sandboxPassword: string;
}

export interface EmbeddedUrls {
  /** The proxy's database, with a login that may add records but not change them. */
  proxy: string;
  /** The same database as its owner, for migrations. */
  owner: string;
  /** The sandbox's own database. */
  sandbox: string;
}

/** Returns the addresses of the databases. Undefined before the first start. */
export function embeddedUrls(dataDir: string): EmbeddedUrls | undefined {
  const file = join(dataDir, 'database.json');
  return existsSync(file) ? urlsOf(accessIn(file)) : undefined;
}

export function readAccess(dataDir: string, home: Home): EmbeddedAccess | undefined {
  const file = join(dataDir, 'database.json');
  if (!existsSync(file) || !existsSync(join(home.cluster, 'PG_VERSION'))) return undefined;
  return accessIn(file);
}

function accessIn(file: string): EmbeddedAccess {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as EmbeddedAccess;
  } catch {
    throw new StartError(
      `${file} cannot be read. It has the passwords of the embedded databases. Restore it, or set ` +
        'DATA_DIR to another folder to start without records.',
    );
  }
}

export function writeAccess(dataDir: string, access: EmbeddedAccess): void {
  writePrivateJson(join(dataDir, 'database.json'), access);
}

/** Returns the address of a separate database, because one with connections cannot be cloned or dropped. */
export function maintenanceUrl(access: EmbeddedAccess): string {
  return address(access, 'payout_owner', access.ownerPassword, 'postgres');
}

export function urlsOf(access: EmbeddedAccess): EmbeddedUrls {
  return {
    proxy: address(access, 'payout_proxy_login', access.proxyPassword, 'payout_proxy'),
    owner: address(access, 'payout_owner', access.ownerPassword, 'payout_proxy'),
    sandbox: address(access, 'sandbox', access.sandboxPassword, 'sandbox'),
  };
}

function address({ port }: EmbeddedAccess, user: string, password: string, database: string): string {
  return `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`;
}
