import { createServer, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Account, PayRequest } from './account';
import { ANSWERING, answerJson } from './answers';
import type { Kind, RequestedItem } from './ledger';
import { answerBatch, answerListing, answerOne, answerWallets } from './listing';

const PREFIX = '/api/v0.1';

type Body = Record<string, unknown>;

/** The operations that create transactions: the member with their items, and the kind. */
const CREATES: Record<string, { member: string; kind: Kind }> = {
  '/send': { member: 'credit', kind: 'credit' },
  '/payouts/airtime': { member: 'airtimes', kind: 'airtime' },
  '/payouts/mobile-money': { member: 'momos', kind: 'momo' },
  '/payouts/credit': { member: 'credits', kind: 'credit' },
  '/payouts/initiate-credit': { member: 'credits', kind: 'payment' },
};

/** A simulated upstream over HTTP, written from the contract alone. Each account has a key and a lie. */
export class Simulator {
  private readonly byKey = new Map<string, Account>();
  private readonly server: Server;

  private constructor(private readonly callerTimeoutMs: number) {
    this.server = createServer((request, response) => {
      response.on('error', () => undefined); // a caller that has gone
      this.answer(request, response).catch(() => response.destroy());
    });
  }

  /** @param callerTimeoutMs for how long the proxy waits for an answer. */
  static async start(callerTimeoutMs: number): Promise<Simulator> {
    const simulator = new Simulator(callerTimeoutMs);
    await new Promise<void>((resolve) => simulator.server.listen(0, '127.0.0.1', resolve));
    return simulator;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Opens an account. */
  open(name: string, lie: Account['lie'] = {}): Account {
    return this.host(new Account(name, lie));
  }

  host<Hosted extends Account>(account: Hosted): Hosted {
    this.byKey.set(account.key, account);
    return account;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    const account = this.byKey.get(String(request.headers['x-api-key']));
    if (!account) {
      const error = 'key is not defined. Generate a new one from the developer portal';
      return answerJson(response, 401, { status: 'error', error });
    }
    const path = pathname.replace(PREFIX, '');
    const given = (body === '' ? {} : JSON.parse(body)) as Body;
    switch (path) {
      case '/account/transactions':
        return answerListing(account, response);
      case '/account/transaction':
        return answerOne(account, searchParams.get('id'), response);
      case '/account/issue-id-transactions':
        return answerBatch(account, searchParams.get('issueID'), response);
      case '/wallets/list':
        return answerWallets(account, response);
      case '/account/delete-unpaid-transaction':
        return deleteUnpaid(account, given, response);
    }
    const requested = toPayRequest(path, given);
    if (!requested) return answerJson(response, 404, { status: 'error', error: `no route ${path}` });
    const { answer, body: truth } = account.receive(requested);
    ANSWERING[answer](response, truth, this.callerTimeoutMs * 1.5);
  }
}

function toPayRequest(operation: string, body: Body): PayRequest | undefined {
  if (operation === '/account/transfer') {
    const { receiver, amount } = body;
    const item = { kind: 'transfer', usd: Number(amount), receiver: String(receiver) } as const;
    return { operation, kind: 'transfer', items: [item] };
  }
  const created = CREATES[operation];
  if (!created) return undefined;
  const { member, kind } = created;
  const given = (Array.isArray(body[member]) ? body[member] : []) as Body[];
  const items = given.map(({ valueInUSD, ...fields }): RequestedItem => {
    return { ...fields, kind, usd: Number(valueInUSD) };
  });
  return { operation, kind, items };
}

function deleteUnpaid({ ledger }: Account, { chiRef }: Body, response: ServerResponse): void {
  const found = ledger.payments.find((payment) => payment.chiRef === chiRef && payment.state === 'unpaid');
  if (!found) {
    const error = `no transaction found for chiRef ${String(chiRef)}`;
    return answerJson(response, 400, { status: 'error', error });
  }
  ledger.become(found, 'deleted');
  const { id, at, issueID } = found;
  const data = { id, issueDate: at.toISOString(), issueID, chiRef, status: 'unpaid', issuer: ledger.issuer };
  answerJson(response, 200, { status: 'success', data });
}
