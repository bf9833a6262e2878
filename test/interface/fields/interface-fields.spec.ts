import { join } from 'node:path';
import { getMetadataStorage } from 'class-validator';
import { NoProperties } from '../../../src/http/validation/rules/rules';
import { sourceFiles } from '../../support/examples/source';

type Payload = new () => object;

const CREDIT_ITEM = ['email', 'twitter', 'valueInUSD'];

/** Fields of each payload in the interface document. */
const FIELDS: Record<string, string[]> = {
  AirtimeItem: ['countryToSend', 'phoneNumber', 'valueInUSD'],
  AirtimePayoutDto: ['airtimes'],
  MobileMoneyItem: ['countryToSend', 'momoCode', 'phoneNumber', 'reference', 'valueInUSD'],
  MobileMoneyPayoutDto: ['momos'],
  CreditItem: CREDIT_ITEM,
  CreditPayoutDto: ['credits'],
  InitiateCreditItem: CREDIT_ITEM,
  InitiateCreditPayoutDto: ['credits', 'description'],
  SendItem: CREDIT_ITEM,
  SendDto: ['credit', 'description'],
  TransferDto: ['amount', 'receiver', 'wallet'],
  DeleteUnpaidTransactionDto: ['chiRef'],
  TransactionQuery: ['id'],
  TransactionsDto: [],
  IssueTransactionsQuery: ['issueID'],
  WalletLookupDto: ['walletID'],
  WalletTransferDto: ['receiver', 'valueInUSD', 'wallet'],
  CreateSubAccountDto: ['email', 'firstName', 'lastName', 'meta', 'name', 'phoneNumber'],
  SubAccountQuery: ['id'],
  UsdInLocalQuery: ['amountInUSD', 'destinationCurrency'],
  LocalInUsdQuery: ['amountInOriginCurrency', 'originCurrency'],
  CollectPaymentDto: ['amount', 'country', 'currency', 'email', 'fullname', 'phone_number', 'tx_ref'],
  VerifyPaymentDto: ['id'],
  RedeemAirtimeDto: ['chiRef', 'countryToSend', 'meta', 'phoneNumber'],
};

function payloads(): Payload[] {
  return sourceFiles('src')
    .filter(({ path }) => path.startsWith('src/interface/') && path.endsWith('.dto.ts'))
    .flatMap(({ path }) =>
      Object.values(jest.requireActual<Record<string, Payload>>(join('..', '..', '..', path))),
    );
}

function fieldsOf(payload: Payload): string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(payload, '', true, false);
  return [...new Set(rules.map(({ propertyName }) => propertyName))].sort();
}

describe('the interface payloads', () => {
  it('accept exactly the fields of the interface document', () => {
    expect(Object.fromEntries(payloads().map((payload) => [payload.name, fieldsOf(payload)]))).toEqual(
      FIELDS,
    );
  });

  it('declare their own fields instead of inheriting them', () => {
    const parents = payloads().map((payload) => Object.getPrototypeOf(payload) as unknown);
    const allowed: unknown[] = [Function.prototype, NoProperties];
    expect(parents.filter((parent) => !allowed.includes(parent))).toEqual([]);
  });
});
