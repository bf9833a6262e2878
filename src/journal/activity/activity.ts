import { Injectable } from '@nestjs/common';
import { ChangeAuthor, ChangeRecords, ClientChange } from '../../access/clients/changes';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { asRecorded, proseAsRecorded } from '../../platform/privacy/recorded';
import { canonical } from '../../policy/content';
import { accountNamed } from '../records/accounts';
import { insertion } from '../records/document-sql';

/** Records changes of clients and their keys, in the transaction of the change. */
@Injectable()
export class ActivityJournal implements ChangeRecords {
  async record(tx: Prisma.TransactionClient, changes: ClientChange[], by: ChangeAuthor): Promise<void> {
    if (changes.length === 0) return;
    const rows = changes.map(({ action, client, keyId, before, after }) => ({
      id: newId(),
      action,
      target_client_id: client?.id ?? null,
      target_client: client?.name ?? null,
      target_key_id: keyId,
      before: before && stateAsRecorded(before),
      after: stateAsRecorded(after),
      via: by.via,
      client_id: by.clientId,
      key_id: by.keyId,
      actor: asRecorded(by.actor),
      client_address: by.clientAddress,
      request_id: by.requestId,
      call_id: by.callId,
      reason: proseAsRecorded(by.reason),
    }));
    await tx.$executeRaw(insertion('activity', rows));
  }
}

/** Returns the text that the leaf seals. Country names are free text, so they are masked like any other. */
function stateAsRecorded(state: object): string {
  const mask = (_: string, value: unknown) => (typeof value === 'string' ? asRecorded(value) : value);
  return canonical(JSON.parse(JSON.stringify(state), mask) as object);
}

/** A wallet and its forecast, from one reading. */
export interface WalletState {
  /** The upstream account. Undefined for `main`. */
  account?: string | undefined;
  wallet_id: string;
  wallet_type: string | null;
  balance_usd: string;
  /** Low-balance threshold. Null if unset. */
  low_balance_usd: string | null;
  /** How long the balance lasts at the pace of the last day. Null if nothing was spent. */
  runway_seconds: number | null;
}

/** A wallet became low or recovered. */
export interface WalletAct {
  action: 'wallet_low' | 'wallet_recovered';
  /** The wallet in its last act. Null for its first act. */
  before: WalletState | null;
  after: WalletState;
}

/** Records changes of wallets as acts of the proxy itself. */
export async function recordWalletActs(
  prisma: Pick<PrismaService, '$executeRaw'>,
  acts: WalletAct[],
): Promise<void> {
  if (acts.length === 0) return;
  const rows = acts.map(({ action, before, after }) => ({
    id: newId(),
    action,
    before: before && stateAsRecorded(before),
    after: stateAsRecorded(after),
    via: 'worker',
  }));
  await prisma.$executeRaw(insertion('activity', rows));
}

/** The key of a wallet in {@link lastWalletActs}. Accounts may use the same IDs. */
export function walletKey(account: string, walletId: string): string {
  return JSON.stringify([account, walletId]);
}

/** Reads the last act of each wallet, by its key. */
export async function lastWalletActs(
  prisma: Pick<PrismaService, '$queryRaw'>,
): Promise<ReadonlyMap<string, Pick<WalletAct, 'action' | 'after'>>> {
  const rows = await prisma.$queryRaw<{ action: WalletAct['action']; after: string }[]>`
    SELECT DISTINCT ON (after::json ->> 'account', after::json ->> 'wallet_id') action, after FROM activity
    WHERE action IN ('wallet_low', 'wallet_recovered')
    ORDER BY after::json ->> 'account', after::json ->> 'wallet_id', acted_at DESC, id DESC`;
  const acts = rows.map(({ action, after }) => ({ action, after: JSON.parse(after) as WalletState }));
  return new Map(acts.map((act) => [walletKey(accountNamed(act.after.account), act.after.wallet_id), act]));
}
