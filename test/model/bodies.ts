import { Decimal } from 'decimal.js';
import { MAGIC, MagicName } from '../../src/sandbox/behaviour/magic-recipients';
import { SUB_ACCOUNT } from '../support/sandbox/sandbox';
import { LogicalRequest } from './schedule';

const PLACES = 100_000; // the last five of six decimals of a first amount are its request's number
const FURTHER_ITEM_USD = 0.05;

/** Builds each operation's body from amounts. The first amount and `number` identify the request. */
const BODIES = {
  'POST /payouts/airtime': ({ usd, magic }: Parts) => ({
    airtimes: usd.map((value, at) => mobile(value, at, magic)),
  }),
  'POST /payouts/mobile-money': ({ usd, magic }: Parts) => ({
    momos: usd.map((value, at) => ({ ...mobile(value, at, magic), reference: '', momoCode: 'MPS' })),
  }),
  'POST /payouts/credit': ({ usd, magic }: Parts) => ({
    credits: usd.map((value, at) => credit(value, at, magic)),
  }),
  'POST /account/transfer': ({ usd }: Parts) => ({ receiver: SUB_ACCOUNT, amount: usd[0] }),
  'POST /wallets/transfer': ({ usd }: Parts) => ({
    receiver: SUB_ACCOUNT,
    valueInUSD: usd[0],
    wallet: 'airtime',
  }),
  'POST /send': ({ usd, magic }: Parts) => ({ credit: usd.map((value, at) => credit(value, at, magic)) }),
  'POST /payouts/initiate-credit': ({ usd, magic }: Parts) => ({
    credits: usd.map((value, at) => credit(value, at, magic)),
  }),
  'POST /collections/mobile-money/collect': ({ number, magic }: Parts) => ({
    amount: 500,
    currency: 'KES',
    phone_number: phone(magic),
    fullname: 'Ada',
    country: 'Kenya',
    email: 'ada@example.org',
    tx_ref: `request-${number}`,
  }),
  'POST /sub-account/create': ({ number, magic }: Parts) => ({
    name: `request-${number}`,
    email: email(magic),
  }),
};

interface Parts {
  usd: number[];
  number: number;
  magic: MagicName | null;
}

export type OperationName = keyof typeof BODIES;

const TRANSFERS: OperationName[] = ['POST /account/transfer', 'POST /wallets/transfer'];
const UNPAID: OperationName[] = [
  'POST /send',
  'POST /payouts/initiate-credit',
  'POST /collections/mobile-money/collect',
  'POST /sub-account/create',
];

export function bodyOf(request: LogicalRequest, number: number): object {
  return BODIES[request.operation]({ usd: amountsOf(request, number), number, magic: request.magic });
}

/** Returns the exact amount that counts against caps. Null if nothing does. */
export function totalOf(request: LogicalRequest, number: number): Decimal | null {
  return UNPAID.includes(request.operation) ? null : Decimal.sum(...amountsOf(request, number));
}

/** Fields that identify the request. */
interface SentItem {
  valueInUSD?: number;
  receiver?: string;
  amount?: number;
}
interface SentBody
  extends SentItem, Partial<Record<'airtimes' | 'momos' | 'credits' | 'credit', SentItem[]>> {
  tx_ref?: string;
  name?: string;
}

/** Returns the request that an arrived body belongs to. */
export function numberOf(body: unknown): number {
  const fields = body as SentBody;
  const [item] = fields.airtimes ?? fields.momos ?? fields.credits ?? fields.credit ?? [fields];
  const usd = item?.valueInUSD ?? (item?.receiver ? item.amount : undefined);
  if (typeof usd === 'number') return new Decimal(usd).times(1_000_000).mod(PLACES).toNumber();
  return Number(/^request-(\d+)$/.exec(fields.tx_ref ?? fields.name ?? '')?.[1]);
}

/** Returns the number of items of a request's body. */
export function itemCountOf({ operation, items }: LogicalRequest): number {
  return TRANSFERS.includes(operation) ? 1 : items;
}

function amountsOf(request: LogicalRequest, number: number): number[] {
  const { tenths } = request;
  const first = new Decimal(tenths).div(10).plus(new Decimal(number).div(1_000_000)).toNumber();
  return [first, ...Array<number>(itemCountOf(request) - 1).fill(FURTHER_ITEM_USD)];
}

function mobile(valueInUSD: number, at: number, magic: MagicName | null) {
  return { countryToSend: 'Kenya', phoneNumber: at === 0 ? phone(magic) : phone(null), valueInUSD };
}

function credit(valueInUSD: number, at: number, magic: MagicName | null) {
  return { valueInUSD, email: at === 0 ? email(magic) : email(null) };
}

function phone(magic: MagicName | null): string {
  return magic ? `+2547${MAGIC[magic].digits}` : '+254712345678';
}

function email(magic: MagicName | null): string {
  return magic ? `${magic}@sandbox.example` : 'ada@example.org';
}
