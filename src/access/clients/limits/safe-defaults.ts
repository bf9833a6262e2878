import { movesValue, OPERATION_NAMES, scopesOf } from '../../../operations/catalogue/catalogue';
import { clock } from '../../../platform/database/clock';
import { Limits } from './limits';

/** The permissions that decide whether a client moves money. */
interface Permissions {
  scopes: readonly string[];
  /** Null for all operations. */
  operations: readonly string[] | null;
}

/** Returns the default expiry of a key: a year from now. */
export function usualExpiry(): Date {
  const expiry = clock.now();
  expiry.setUTCFullYear(expiry.getUTCFullYear() + 1);
  return expiry;
}

/** Returns whether a client with these permissions may pay or redeem. Such a client needs a daily cap. */
export function mayMoveValue({ scopes, operations }: Permissions): boolean {
  return OPERATION_NAMES.filter((name) => operations === null || operations.includes(name)).some(
    (name) => movesValue(name) && scopesOf(name).every((scope) => scopes.includes(scope)),
  );
}

/**
 * Returns whether a change lets a client pay or redeem for the first time without a decision about a daily
 * cap. An amount or an explicit null is a decision.
 */
export function lacksDailyCap(
  client: Permissions & { daily_cap_usd: string | null },
  { scopes = [...client.scopes], operations = client.operations, dailyCapUsd }: Partial<Permissions & Limits>,
): boolean {
  const isDecided = client.daily_cap_usd !== null || dailyCapUsd !== undefined;
  return !isDecided && mayMoveValue({ scopes, operations }) && !mayMoveValue(client);
}
