import { Fault } from '../../platform/errors/problem';
import { Item } from '../../operations/item';
import { normalise } from '../../policy/country-name';
import { isObject } from '../upstream/answer';

/** The destinations that the upstream serves: its countries, each with its mobile money networks (none for airtime). */
export class Served {
  private readonly countries = new Map<string, Country>();

  /** From the envelope of `/info/airtime-countries` (docs/reference/upstream.md); undefined if it is not what was observed. */
  static airtime(envelope: unknown): Served | undefined {
    const rows = rowsOf(envelope);
    return rows && Served.of(rows.map((name) => ({ country: name, code: null })));
  }

  /** From the envelope of `/info/mobile-money-codes`: a code is unique only together with its country, and rows repeat. */
  static mobileMoney(envelope: unknown): Served | undefined {
    const rows = rowsOf(envelope);
    return rows && Served.of(rows.map((row) => (isObject(row) ? { ...row, code: row.code ?? undefined } : {})));
  }

  /** One row that cannot be read makes the list no list: what it names might be missed, and a good payout refused. */
  private static of(rows: { country?: unknown; code?: unknown; name?: unknown }[]): Served | undefined {
    const served = new Served();
    for (const { country, code, name } of rows) {
      if (!isWord(country) || !(code === null || isWord(code))) return undefined;
      served.add(country, code, isWord(name) ? name : null);
    }
    return served;
  }

  /** What is wrong with the items, at their places in the body's list; what is served is listed once for each country. */
  faultsIn(items: Item[], pointerOf: (place: number, field: 'country' | 'networkCode') => string): Fault[] {
    const explainedAt = new Map<string, string>();
    return items.flatMap((item, place) => {
      const country = this.countries.get(normalise(item.country ?? ''));
      const served = country && (item.networkCode === null || country.networks.has(item.networkCode));
      if (served) return [];
      const pointer = pointerOf(place, country ? 'networkCode' : 'country');
      const kind = country?.name ?? ''; // what is said depends on nothing else
      const explained = explainedAt.get(kind);
      if (explained === undefined) explainedAt.set(kind, pointer);
      if (explained !== undefined)
        return [{ pointer, detail: `is not served, and must be a value listed at ${explained}` }];
      return [{ pointer, detail: country ? wrongNetwork(country) : this.wrongCountry() }];
    });
  }

  /** A country as the upstream writes it; null if it is none of its own. */
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
  /** As the upstream writes it. */
  name: string;
  /** Names of its networks by their codes. */
  networks: Map<string, string>;
}

function wrongNetwork({ name, networks }: Country): string {
  const codes = [...networks].map(([code, network]) => (code === network ? code : `${code} (${network})`));
  return `must be a mobile money network of ${name}: ${codes.join(', ')}`;
}

/** An empty list would refuse everything: it is more likely a fault of the upstream's than the truth. */
function rowsOf(envelope: unknown): unknown[] | undefined {
  const data = isObject(envelope) ? envelope.data : undefined;
  return Array.isArray(data) && data.length > 0 ? data : undefined;
}

/** Short, so that a list of nonsense does not end up in an error. */
function isWord(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= 100;
}
