import { Decimal } from 'decimal.js';
import { MAGIC, MagicName } from '../../src/sandbox/behaviour/magic-recipients';
import { SUB_ACCOUNT } from '../support/sandbox/sandbox';
import { recipientOf } from '../support/simulator/ledger';
import { LogicalRequest } from './schedule';

/** The members of a request that determine its body, with its number. */
type Content = Pick<LogicalRequest, 'operation' | 'tenths' | 'items' | 'magic' | 'simulated'>;

const PLACES = 100_000; // the last five of six decimals of a first amount are its request's number
const FURTHER_ITEM_USD = 0.05; // and its request's number

/** Builds each operation's body from amounts. The first amount and `number` identify the request. */
const BODIES = {
  'POST /payouts/airtime': (parts: Parts) => ({ airtimes: parts.usd.map((_, at) => mobile(parts, at)) }),
  'POST /payouts/mobile-money': (parts: Parts) => ({
    momos: parts.usd.map((_, at) => ({
      ...mobile(parts, at),
      reference: parts.person === 'own' ? `request-${parts.number}-${at}` : '',
      momoCode: 'MPS',
    })),
  }),
  'POST /payouts/credit': (parts: Parts) => ({ credits: parts.usd.map((_, at) => credit(parts, at)) }),
  'POST /account/transfer': ({ usd }: Parts) => ({ receiver: SUB_ACCOUNT, amount: usd[0] }),
  'POST /wallets/transfer': ({ usd }: Parts) => ({
    receiver: SUB_ACCOUNT,
    valueInUSD: usd[0],
    wallet: 'airtime',
  }),
  'POST /send': (parts: Parts) => ({ credit: parts.usd.map((_, at) => credit(parts, at)) }),
  'POST /payouts/initiate-credit': (parts: Parts) => ({
    credits: parts.usd.map((_, at) => credit(parts, at)),
  }),
  'POST /collections/mobile-money/collect': ({ number, magic }: Parts) => ({
    amount: 500,
    currency: 'KES',
    phone_number: phone({ number, magic, person: null }, 0),
    fullname: 'Ada',
    country: 'Kenya',
    email: 'ada@example.org',
    tx_ref: `request-${number}`,
  }),
  'POST /sub-account/create': ({ number, magic }: Parts) => ({
    name: `request-${number}`,
    email: email({ number, magic, person: null }, 0),
  }),
};

/** The recipient of all items. With a magic one, that of all but the first. */
interface Recipient {
  number: number;
  magic: MagicName | null;
  /** A person of this request or of its lane, at the simulated upstream. Null at the sandbox. */
  person: 'own' | 'shared' | null;
}

interface Parts extends Recipient {
  usd: number[];
}

export type OperationName = keyof typeof BODIES;

const TRANSFERS: OperationName[] = ['POST /account/transfer', 'POST /wallets/transfer'];
const UNPAID: OperationName[] = [
  'POST /send',
  'POST /payouts/initiate-credit',
  'POST /collections/mobile-money/collect',
  'POST /sub-account/create',
];

export function bodyOf(request: Content, number: number): object {
  const person = request.simulated?.person ?? null;
  return BODIES[request.operation]({
    usd: amountsOf(request, number),
    number,
    magic: request.magic,
    person,
  });
}

/** Returns the exact amount that counts against caps. Null if nothing does. */
export function totalOf(request: Content, number: number): Decimal | null {
  return UNPAID.includes(request.operation) ? null : Decimal.sum(...amountsOf(request, number));
}

/** Fields that identify the request. */
interface SentItem {
  phoneNumber?: string;
  email?: string;
  valueInUSD?: number;
  receiver?: string;
  amount?: number;
}
interface SentBody
  extends SentItem, Partial<Record<'airtimes' | 'momos' | 'credits' | 'credit', SentItem[]>> {
  tx_ref?: string;
  name?: string;
}

/** Returns the payouts of a request: the recipient of each, by the name in a ledger, and the amount. */
export function payoutsOf(request: Content, number: number): { recipient: string; usd: number }[] {
  const { airtimes, momos, credits, credit: credit_, ...fields } = bodyOf(request, number) as SentBody;
  const items = airtimes ?? momos ?? credits ?? credit_ ?? [fields];
  return items.map((item) => ({
    recipient: recipientOf(item),
    usd: Number(item.valueInUSD ?? item.amount),
  }));
}

/** Recipients that identify the request, so that its amounts may equal those of others. */
const OWN_PERSON = /^\+25478(\d{7})$|^person\.(\d+)@/;

/** Returns the request that an arrived body belongs to. */
export function numberOf(body: unknown): number {
  const fields = body as SentBody;
  const [item] = fields.airtimes ?? fields.momos ?? fields.credits ?? fields.credit ?? [fields];
  const own = OWN_PERSON.exec(item?.phoneNumber ?? item?.email ?? '');
  if (own) return Number(own[1] ?? own[2]);
  const usd = item?.valueInUSD ?? (item?.receiver ? item.amount : undefined);
  if (typeof usd === 'number') return new Decimal(usd).times(1_000_000).mod(PLACES).toNumber();
  return Number(/^request-(\d+)$/.exec(fields.tx_ref ?? fields.name ?? '')?.[1]);
}

/** Returns the number of items of a request's body. */
export function itemCountOf({ operation, items }: Pick<Content, 'operation' | 'items'>): number {
  return TRANSFERS.includes(operation) ? 1 : items;
}

function amountsOf(request: Content, number: number): number[] {
  const { tenths, operation, simulated } = request;
  const isNamed = simulated?.person === 'own' && !TRANSFERS.includes(operation);
  const own = new Decimal(isNamed ? 0 : number).div(1_000_000);
  const first = own.plus(new Decimal(tenths).div(10)).toNumber();
  return [first, ...Array<number>(itemCountOf(request) - 1).fill(own.plus(FURTHER_ITEM_USD).toNumber())];
}

function mobile(parts: Parts, at: number) {
  return { countryToSend: 'Kenya', phoneNumber: phone(parts, at), valueInUSD: parts.usd[at] };
}

function credit(parts: Parts, at: number) {
  return { valueInUSD: parts.usd[at], email: email(parts, at) };
}

function phone({ number, magic, person }: Recipient, at: number): string {
  if (person === 'own') return `+25478${String(number).padStart(7, '0')}`;
  if (person === 'shared') return `+25479${String(laneOf(number)).padStart(7, '0')}`;
  return magic && at === 0 ? `+2547${MAGIC[magic].digits}` : '+254712345678';
}

function email({ number, magic, person }: Recipient, at: number): string {
  if (person === 'own') return `person.${number}@example.org`;
  if (person === 'shared') return `lane.${laneOf(number)}@example.org`;
  return magic && at === 0 ? `${magic}@sandbox.example` : 'ada@example.org';
}

/** Above the number of steps of a schedule. */
export const NUMBERS_PER_LANE = 100;

/** Returns the number of a request's lane, among those of all waves. */
function laneOf(number: number): number {
  return Math.floor(number / NUMBERS_PER_LANE);
}
