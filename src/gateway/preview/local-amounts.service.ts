import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { Call, causedBy } from '../../access/auth/call';
import { MetricsService } from '../../http/metrics/metrics.service';
import { normalise } from '../../policy/country-name';
import { isObject, parseJson } from '../upstream/answer';
import { ExchangeService } from '../forwarding/exchange.service';
import { toOutgoing } from '../forwarding/outgoing';
import { PositionedItem } from './positioned-items';
import { PreviewLocalAmount } from './preview.dto';

const CONVERT = 'GET /info/usd-amount-in-local';

/** Each is a request to the upstream: a list of a thousand different amounts must not become a thousand of them. */
const MAX_CONVERSIONS = 10;

/** A preview does not wait longer: what has not come by then is left out. */
const PATIENCE_MS = 3_000;

/** The currencies (ISO 4217) of the countries that were seen (docs/reference/upstream.md, "Countries and networks"). */
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

/** Says what items are worth where they go to, by the upstream's own rates. */
@Injectable()
export class LocalAmountsService implements OnApplicationShutdown {
  private readonly logger = new Logger('LocalAmounts');
  private readonly unfinished = new Set<Promise<unknown>>();

  constructor(
    private readonly exchanges: ExchangeService,
    private readonly metrics: MetricsService,
  ) {}

  /** By position; an item that is not in it has no known local amount. Never fails: it is only for a look. */
  async of(call: Call, items: PositionedItem[]): Promise<Map<number, PreviewLocalAmount>> {
    const wanted = items.flatMap(({ position, item }) => {
      const conversion = conversionOf(item);
      return conversion ? [{ position, ...conversion }] : [];
    });
    const distinct = new Map(wanted.map((conversion) => [keyOf(conversion), conversion]));
    const found = new Map<string, PreviewLocalAmount>();
    const questions = [...distinct].slice(0, MAX_CONVERSIONS).map(async ([key, conversion]) => {
      const amount = await this.convert(call, conversion);
      if (amount) found.set(key, { currency: conversion.currency, amount: amount.toFixed() });
    });
    await this.waitFor(Promise.all(questions));
    return new Map(
      wanted.flatMap(({ position, ...conversion }) => {
        const amount = found.get(keyOf(conversion));
        return amount ? [[position, amount]] : [];
      }),
    );
  }

  /** A question that outlived its preview is finished and recorded. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.unfinished);
  }

  private async waitFor(questions: Promise<unknown>): Promise<void> {
    this.unfinished.add(questions);
    void questions.finally(() => this.unfinished.delete(questions));
    const stop = new AbortController();
    await Promise.race([questions, sleep(PATIENCE_MS, undefined, { signal: stop.signal }).catch(() => undefined)]);
    stop.abort();
  }

  /** A call of our own, recorded like all else. */
  private async convert(cause: Call, { currency, usd }: Conversion): Promise<Decimal | undefined> {
    const call = causedBy(cause, CONVERT);
    const query = { destinationCurrency: currency, amountInUSD: usd.toFixed() };
    try {
      const ready = { outgoing: toOutgoing(CONVERT, query), items: [], coverage: null };
      const { answer } = await this.exchanges.read(call, ready);
      return answer.kind === 'succeeded' ? amountIn(parseJson(answer.body)) : undefined;
    } catch (err) {
      this.logger.warn(
        { call_id: call.id, operation: CONVERT, err },
        'a conversion was not asked for, or not recorded',
      );
      return undefined;
    } finally {
      this.metrics.count(call);
    }
  }
}

function conversionOf({ country, amountUsd, recipientField }: PositionedItem['item']): Conversion | undefined {
  const currency = CURRENCIES.get(normalise(country ?? ''));
  // What a collection asks for is in local currency already.
  return currency !== undefined && amountUsd && recipientField !== null ? { currency, usd: amountUsd } : undefined;
}

function keyOf({ currency, usd }: Conversion): string {
  return `${currency} ${usd.toFixed()}`;
}

/** From the envelope of `/info/usd-amount-in-local`; amounts come as numbers, or as text. */
function amountIn(envelope: unknown): Decimal | undefined {
  const data = isObject(envelope) && isObject(envelope.data) ? envelope.data : {};
  const amount = data.amountInDestinationCurrency;
  if (typeof amount !== 'number' && !(typeof amount === 'string' && /^\d{1,20}(\.\d{1,20})?$/.test(amount)))
    return undefined;
  const decimal = new Decimal(amount);
  return decimal.isFinite() && !decimal.isNegative() ? decimal : undefined;
}
