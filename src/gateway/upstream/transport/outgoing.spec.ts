import { methodOf, OPERATION_NAMES, rowOf } from '../../../operations/catalogue/catalogue';
import { toOutgoing } from './outgoing';

const MAIN = { name: 'main', funds: { subAccount: undefined, wallet: undefined } };

const written = ({ method, path, body }: ReturnType<typeof toOutgoing>) => [
  method,
  path,
  body?.toString() ?? null,
];

describe('toOutgoing', () => {
  it('puts its input into the query of a GET, and into the body of a POST', () => {
    expect(written(toOutgoing(MAIN, 'GET /account/transaction', { id: 'a b&c' }))).toEqual([
      'GET',
      '/api/v0.1/account/transaction?id=a+b%26c',
      null,
    ]);
    expect(written(toOutgoing(MAIN, 'GET /wallets/list', undefined))).toEqual([
      'GET',
      '/api/v0.1/wallets/list',
      null,
    ]);
    expect(written(toOutgoing(MAIN, 'POST /account/transactions', {}))).toEqual([
      'POST',
      '/api/v0.1/account/transactions',
      '{}',
    ]);
  });

  it('puts its input into the query of a POST if the catalogue requires it, without a body', () => {
    expect(written(toOutgoing(MAIN, 'POST /account/issue-id-transactions', { issueID: 'u_7.5_1' }))).toEqual([
      'POST',
      '/api/v0.1/account/issue-id-transactions?issueID=u_7.5_1',
      null,
    ]);
    const inQuery = OPERATION_NAMES.filter(
      (name) => methodOf(name) === 'POST' && rowOf(name).input === 'query',
    );
    expect(inQuery).toEqual(['POST /account/issue-id-transactions']);
  });
});
