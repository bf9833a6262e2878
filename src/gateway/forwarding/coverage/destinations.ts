import { Item } from '../../../operations/items/item';
import { Fault } from '../../../platform/errors/problem';
import { isObject } from '../../../platform/json/is-object';
import { normalise } from '../../../recipients/country-name';

/**
 * The destinations of the upstream: its countries, each with its mobile money networks, or none for airtime.
 */
export class Destinations {
  private readonly countries = new Map<string, Country>();

  /** Reads the answer of `/info/airtime-countries` (docs/reference/upstream.md). Undefined if malformed. */
  static airtime(envelope: unknown): Destinations | undefined {
    const rows = rowsOf(envelope);
    return rows && Destinations.of(rows.map((name) => ({ country: name, code: null })));
  }

  /**
   * Reads the answer of `/info/mobile-money-codes`. Codes are unique within a country only, and rows repeat.
   */
  static mobileMoney(envelope: unknown): Destinations | undefined {
    const rows = rowsOf(envelope);
    return (
      rows &&
      Destinations.of(rows.map((row) => (isObject(row) ? { ...row, code: row.code ?? undefined } : {})))
    );
  }

  /** One unreadable row makes the list unusable: without its destination, valid payouts would be rejected. */
  private static of(rows: { country?: unknown; code?: unknown; name?: unknown }[]): Destinations | undefined {
    const served = new Destinations();
    for (const { country, code, name } of rows) {
      if (!isWord(country) || !(code === null || isWord(code))) return undefined;
      served.add(country, code, isWord(name) ? name : null);
    }
    return served;
  }

  /**
   * Finds items with unsupported destinations, at their positions in the list of the body. Lists the
   * supported values once per country.
   */
  faultsIn(items: Item[], pointerOf: (index: number, field: 'country' | 'networkCode') => string): Fault[] {
    const explainedAt = new Map<string, string>();
    return items.flatMap((item, index) => {
      const country = this.countries.get(normalise(item.country ?? ''));
      const served = country && (item.networkCode === null || country.networks.has(item.networkCode));
      if (served) return [];
      const pointer = pointerOf(index, country ? 'networkCode' : 'country');
      const kind = country?.name ?? ''; // the text depends only on the kind
      const explained = explainedAt.get(kind);
      if (explained === undefined) explainedAt.set(kind, pointer);
      if (explained !== undefined)
        return [{ pointer, detail: `is not served, and must be a value listed at ${explained}` }];
      return [{ pointer, detail: country ? wrongNetwork(country) : this.wrongCountry() }];
    });
  }

  /** Returns a country in the upstream's spelling. Null if the upstream lacks it. */
  spellingOf(country: string): string | null {
    return this.countries.get(normalise(country))?.name ?? null;
  }

  private add(country: string, code: string | null, name: string | null): void {
    const key = normalise(country);
    const known = this.countries.get(key) ?? { name: country, networks: new Map<string, string>() };
    if (code !== null) known.networks.set(code, known.networks.get(code) ?? name ?? code);
    this.countries.set(key, known);
  }

  private wrongCountry(): string {
    const names = [...this.countries.values()].map(({ name }) => name).sort();
    return `is not served, and must be one of ${names.join(', ')}`;
  }
}

interface Country {
  /** Its name in the upstream's spelling. */
  name: string;
  /** The names of its networks, by code. */
  networks: Map<string, string>;
}

function wrongNetwork({ name, networks }: Country): string {
  const codes = [...networks].map(([code, network]) => (code === network ? code : `${code} (${network})`));
  return `must be a mobile money network of ${name}: ${codes.join(', ')}`;
}

/** Whether a list is usable. An empty one is probably an upstream error, and would reject every payout. */
function rowsOf(envelope: unknown): unknown[] | undefined {
  const data = isObject(envelope) ? envelope.data : undefined;
  return Array.isArray(data) && data.length > 0 ? data : undefined;
}

/** Limits the length, to keep a nonsensical list out of errors. */
function isWord(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= 100;
}
