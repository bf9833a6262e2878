import type { ServerResponse } from 'node:http';
import type { Account } from './account';
import { answerJson } from './answers';
import { balanceOf, Kind } from './ledger';

/** Rows of a list that is cut. */
const CUT = 3;

/** The kind that a list with delay shows in time. */
const PROMPT: Kind = 'momo';

/** Answers with the list of transactions. It has no pages. */
export function answerListing(account: Account, response: ServerResponse): void {
  const all = account.rows();
  const rows = all.map(({ row }) => row);
  const lie = account.isCurrent ? undefined : account.lie.listing;
  const list = (data: object[]) => answerJson(response, 200, { status: 'success', data });
  switch (lie) {
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' });
      return void response.end('<html><body>Maintenance</body></html>');
    case 'empty':
      return list([]);
    case 'cut':
      return list(rows.slice(0, CUT));
    case 'ascending':
      return list(rows.reverse());
    case 'late':
      return list(all.flatMap(({ payment, row }) => (payment?.kind === PROMPT ? [row] : [])));
    case undefined:
      return list(rows);
  }
}

/** Answers with one transaction, by its ID. */
export function answerOne(account: Account, id: string | null, response: ServerResponse): void {
  const row = account.rows().find((one) => one.row.id === id)?.row;
  answerJson(response, 200, { status: 'success', data: row ?? { error: 'not found for that id' } });
}

/** Answers with the transactions of a batch. */
export function answerBatch(account: Account, issueId: string | null, response: ServerResponse): void {
  const rows = account.rows().flatMap(({ row }) => (row.issueID === issueId ? [row] : []));
  const data = rows.length > 0 ? rows : { error: 'not found for that id' };
  answerJson(response, 200, { status: 'success', data });
}

const WALLETS: Record<'chi' | 'momo' | 'airtime', Kind> = { chi: 'credit', momo: 'momo', airtime: 'airtime' };

/** Answers with the wallets and all of their movements, newest first. */
export function answerWallets({ name, ledger }: Account, response: ServerResponse): void {
  const data = Object.entries(WALLETS).map(([type, kind]) => ({
    id: `wallet-${type}-${name}`,
    type,
    balance: balanceOf(ledger, kind),
    owner: ledger.issuer,
    transactions: (ledger.wallets.get(kind) ?? [])
      .map(({ amount, before, after, at }) => ({
        amount,
        balanceBefore: before,
        newBalance: after,
        description: amount < 0 ? 'payout' : 'return',
        meta: {
          date: {
            _seconds: Math.floor(at.getTime() / 1_000),
            _nanoseconds: (at.getTime() % 1_000) * 1e6,
          },
        },
      }))
      .reverse(),
  }));
  answerJson(response, 200, { status: 'success', data });
}
