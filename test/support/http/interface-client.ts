import type { SandboxOperations } from '../../../src/sandbox/http/routes';
import type { DataOf } from '../sandbox/sandbox-answers';

/** A response as received, without interpretation. */
export interface RawAnswer {
  status: number;
  contentType: string | null;
  text: string;
}

/** A client written from docs/reference/upstream.md alone. It knows only a base address and a key. */
export class InterfaceClient {
  constructor(
    private readonly baseUrl: string,
    private readonly apiKey: string,
  ) {}

  // docs/reference/upstream.md, "Requests"
  send = (credit: object[], description?: string) => this.post('/send', { credit, description });
  payOutAirtime = (airtimes: object[]) => this.post('/payouts/airtime', { airtimes });
  payOutMobileMoney = (momos: object[]) => this.post('/payouts/mobile-money', { momos });
  payOutCredit = (credits: object[]) => this.post('/payouts/credit', { credits });
  initiateCredit = (credits: object[], description?: string) =>
    this.post('/payouts/initiate-credit', { description, credits });
  transfer = (receiver: string, amount?: number, wallet?: string) =>
    this.post('/account/transfer', { receiver, amount, wallet });
  deleteUnpaid = (chiRef: string) => this.post('/account/delete-unpaid-transaction', { chiRef });
  transaction = (id: string) => this.get('/account/transaction', { id });
  wallets = () => this.get('/wallets/list');
  /** "The heading states GET. The code examples use POST." */
  walletsByPost = () => this.post('/wallets/list');
  subAccounts = () => this.get('/sub-account/list');

  // docs/reference/upstream.md, "Operations known by name only"
  transactions = () => this.post('/account/transactions', {});
  transactionsOfIssue = (issueID: string) =>
    this.post(`/account/issue-id-transactions?${new URLSearchParams({ issueID }).toString()}`);
  assets = () => this.get('/info/assets');
  airtimeCountries = () => this.get('/info/airtime-countries');
  mobileMoneyCodes = () => this.get('/info/mobile-money-codes');
  usdInLocal = (destinationCurrency: string, amountInUSD: string) =>
    this.get('/info/usd-amount-in-local', { destinationCurrency, amountInUSD });
  localInUsd = (originCurrency: string, amountInOriginCurrency: string) =>
    this.get('/info/local-amount-in-usd', { originCurrency, amountInOriginCurrency });
  collect = (charge: object) => this.post('/collections/mobile-money/collect', charge);
  initiateCollection = (charge: object) => this.post('/collections/mobile-money/initiate', charge);
  verifyCollection = (id: string) => this.post('/collections/mobile-money/verify', { id });
  redeemAirtime = (redemption: object) => this.post('/redeem/airtime', redemption);
  createSubAccount = (account: object) => this.post('/sub-account/create', account);
  subAccount = (id: string) => this.get('/sub-account/get', { id });
  lookUpWallet = (walletID: string) => this.post('/wallets/lookup', { walletID });
  transferBetweenWallets = (transfer: object) => this.post('/wallets/transfer', transfer);

  get(path: string, query: Record<string, string> = {}): Promise<RawAnswer> {
    const search = new URLSearchParams(query).toString();
    return this.request('GET', search ? `${path}?${search}` : path);
  }

  post(path: string, body?: object): Promise<RawAnswer> {
    return this.request('POST', path, body);
  }

  private async request(method: string, path: string, body?: object): Promise<RawAnswer> {
    const response = await fetch(`${this.baseUrl}/api/v0.1${path}`, {
      method,
      headers: { 'X-API-KEY': this.apiKey, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return {
      status: response.status,
      contentType: response.headers.get('content-type'),
      text: await response.text(),
    };
  }
}

/** Returns the `data` of an answer. */
export function dataOf<Line extends keyof SandboxOperations>(
  _operation: Line,
  { text }: RawAnswer,
): DataOf<Line> {
  return (JSON.parse(text) as { data: DataOf<Line> }).data;
}
