import { Decimal } from 'decimal.js';
import { OperationCall } from '../../access/auth/call';
import { waitAtMost } from '../../platform/database/pools/timeouts';
import { isObject } from '../../platform/json/is-object';
import { normalise } from '../../recipients/country-name';
import { InternalReadsService } from '../forwarding/ownership/internal-reads.service';
import { parseJson } from '../upstream/answers/answer';
import { PositionedItem } from './positioned-items';
import { PreviewLocalAmount } from './preview.dto';

const CONVERT = 'GET /info/usd-amount-in-local';

/** Limit of conversions per preview. Each is a request to the upstream, and a list may need a thousand. */
const MAX_CONVERSIONS = 10;

/** Longest wait of a preview, in ms. Later conversions are omitted. */
const TIMEOUT_MS = 3_000;

/** Currencies (ISO 4217) of the known countries (docs/reference/upstream.md, "Countries and networks"). */
const CURRENCIES = new Map(
  Object.entries({
    Cameroon: 'XAF',
    "Côte d'Ivoire": 'XOF',
    Ghana: 'GHS',
    Kenya: 'KES',
    Nigeria: 'NGN',
    Rwanda: 'RWF',
    'South Africa': 'ZAR',
    Tanzania: 'TZS',
    Uganda: 'UGX',
    Zambia: 'ZMW',
  }).map(([country, currency]) => [normalise(country), currency]),
);

interface Conversion {
  currency: string;
  usd: Decimal;
}

/**
 * Reads the local amounts of items, by the upstream's rates. Never fails: nothing depends on the amounts.
 * @returns the amounts by item position. Omits items without a known local amount.
 */
export async function readLocalAmounts(
  reads: InternalReadsService,
  call: OperationCall,
  items: PositionedItem[],
): Promise<Map<number, PreviewLocalAmount>> {
  const conversions = items.flatMap(({ position, item }) => {
    const conversion = conversionOf(item);
    return conversion ? [{ position, key: keyOf(conversion), conversion }] : [];
  });
  const distinct = new Map(conversions.map(({ key, conversion }) => [key, conversion]));
  const amounts = new Map<string, PreviewLocalAmount>();
  const requests = [...distinct].slice(0, MAX_CONVERSIONS).map(async ([key, { currency, usd }]) => {
    const body = await reads.read(call, CONVERT, {
      destinationCurrency: currency,
      amountInUSD: usd.toFixed(),
    });
    const amount = body && amountIn(parseJson(body));
    if (amount) amounts.set(key, { currency, amount: amount.toFixed() });
  });
  await waitAtMost(Promise.all(requests), TIMEOUT_MS);
  return new Map(
    conversions.flatMap(({ position, key }) => {
      const amount = amounts.get(key);
      return amount ? [[position, amount]] : [];
    }),
  );
}

function conversionOf({
  country,
  amountUsd,
  recipientField,
}: PositionedItem['item']): Conversion | undefined {
  const currency = CURRENCIES.get(normalise(country ?? ''));
  // Amounts of a collection are already in local currency.
  return currency !== undefined && amountUsd && recipientField !== null
    ? { currency, usd: amountUsd }
    : undefined;
}

function keyOf({ currency, usd }: Conversion): string {
  return `${currency} ${usd.toFixed()}`;
}

/** Reads the answer of `/info/usd-amount-in-local`. Amounts arrive as numbers or as text. */
function amountIn(envelope: unknown): Decimal | undefined {
  const data = isObject(envelope) && isObject(envelope.data) ? envelope.data : {};
  const amount = data.amountInDestinationCurrency;
  if (typeof amount !== 'number' && !(typeof amount === 'string' && /^\d{1,20}(\.\d{1,20})?$/.test(amount)))
    return undefined;
  const decimal = new Decimal(amount);
  return decimal.isFinite() && !decimal.isNegative() ? decimal : undefined;
}
