import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { Prisma } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { Fault, Problem } from '../../platform/errors/problem';
import { Cursor, fromToken, Listed, Sort, toToken } from './cursor';
import { phonesMeantBy } from '../../platform/privacy/phone-spellings';
import { conditionsOf, rangeOf, Rows } from './filters';
import { IndexService } from './index.service';
import { Page, PageRequest, Place, rowsToRead } from '../records/page';
import { FoundPlace, matching, Query, Scope, sliced, walked, whole } from './pages';
import { PresentService } from '../records/present.service';
import { SearchFilters } from './search.dto';

/** Rows read in order before the page is looked for by its terms: some milliseconds, and enough for one row of a hundred. */
const BUDGET = 5_000;
/** Of an export, for each row of a batch: it reads long batches, and what it skips it does not have to find again. */
const BUDGET_PER_ROW = 60;

type Search = SearchFilters & PageRequest & { sort?: Sort };

/** Finds calls and payouts by the search index; what each holds, records.service.ts reads. */
@Injectable()
export class SearchService {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly present: PresentService,
    private readonly index: IndexService,
  ) {}

  /**
   * One page, newest or largest first. It finds all that had committed when it was asked.
   * @param clientId finds only calls of this client, and of those it asked again only the first.
   */
  async search(search: Search, listed: Listed = 'calls', clientId?: string): Promise<Page<Place>> {
    const after = cursorOf(search, listed);
    const scope = await this.prepare(search, listed, clientId);
    const { sort = 'time' } = search;
    const query: Query = {
      ...scope,
      listed,
      sort,
      direction: 'desc',
      ...(sort === 'amount' && amountsOf(search, listed)),
    };
    const found = await this.page(query, after, rowsToRead(search), BUDGET);
    const rows = found.slice(0, rowsToRead(search) - 1);
    const last = found.length > rows.length ? rows.at(-1) : undefined;
    return { rows, nextPageToken: last ? toToken(listed, sort, toCursor(last)) : null };
  }

  /**
   * All that is found now, for `walk` and `count`: oldest first, and nothing that comes later.
   * @throws Problem if the search makes no sense.
   */
  async open(search: SearchFilters, listed: Listed): Promise<Query> {
    const scope = await this.prepare(search, listed);
    const [newest] = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT call_id::text AS id FROM search_entry ORDER BY call_id DESC, position DESC LIMIT 1`;
    return { ...scope, listed, sort: 'time', direction: 'asc', upTo: newest?.id };
  }

  /** In batches, the last of which may be smaller; none is empty. */
  async *walk(query: Query, { batch }: { batch: number }): AsyncGenerator<Place[], void> {
    let after: Cursor | undefined;
    for (;;) {
      const found = await this.page(query, after, batch, batch * BUDGET_PER_ROW, (sql) => this.prisma.readLong(sql));
      if (found.length > 0) yield found.map(({ id, position }) => ({ id, position }));
      const last = found.at(-1);
      if (!last || found.length < batch) return;
      after = toCursor(last);
    }
  }

  async count(query: Query): Promise<number> {
    const what = query.listed === 'items' ? Prisma.sql`*` : Prisma.sql`DISTINCT call_id`;
    const [row] = await this.prisma.$queryRaw<{ count: number }[]>`
      SELECT count(${what})::float8 AS count FROM search_entry WHERE ${matching(query)}`;
    return row?.count ?? 0;
  }

  /** Makes sure that all that has committed can be found, and says what to look for. */
  async prepare(search: SearchFilters, rows: Rows, clientId?: string): Promise<Scope> {
    requireSense(search);
    const present = await this.present.read(); // before the records are: see there
    await this.index.catchUp();
    const named = { clientIds: await this.clientsOf(search, clientId), phones: await this.phonesOf(search) };
    const conditions = conditionsOf(search, rows, named, present);
    if (clientId !== undefined) {
      conditions.terms.push(Prisma.sql`'client:' || ${clientId}::text`);
      conditions.others.push(Prisma.sql`NOT repeats`);
    }
    return { conditions, ...rangeOf(search) };
  }

  private async page(
    query: Query,
    after: Cursor | undefined,
    limit: number,
    budget: number,
    ask: (sql: Prisma.Sql) => Promise<FoundPlace[]> = (sql) => this.prisma.$queryRaw(sql),
  ): Promise<FoundPlace[]> {
    if (query.conditions.few) return ask(whole(query, after, limit));
    if (!query.conditions.rare) {
      const found = await ask(walked(query, after, limit, budget));
      if (found.length === limit) return found;
    }
    return ask(sliced(query, after, limit));
  }

  /** A number without its country code may mean one in each country. Returns those that are in the index: hardly any. */
  private async phonesOf({ recipient = '' }: SearchFilters): Promise<string[]> {
    const candidates = phonesMeantBy(recipient);
    if (candidates.length < 2) return candidates;
    // Counted, not asked whether there is one: a planner that hopes to find one soon reads the index from its beginning.
    const rows = await this.prisma.$queryRaw<{ phone: string }[]>(Prisma.sql`
      SELECT phone FROM unnest(${candidates}::text[]) AS phone
      CROSS JOIN LATERAL (SELECT count(*) FROM search_entry WHERE terms @> ARRAY['to:' || phone]) AS paid
      WHERE paid.count > 0`);
    return rows.map(({ phone }) => phone);
  }

  /** Of the clients that a search names: one may be named like another's id. */
  private async clientsOf({ client }: SearchFilters, clientId: string | undefined): Promise<string[] | undefined> {
    if (client === undefined || clientId !== undefined) return undefined;
    const rows = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT id::text FROM client WHERE name = ${client} OR id::text = lower(${client})`;
    return rows.map(({ id }) => id);
  }
}

/** The bounds of the amounts that results are sorted by. */
function amountsOf({ min_item_usd, max_item_usd, min_total_usd, max_total_usd }: SearchFilters, listed: Listed) {
  return listed === 'items'
    ? { least: min_item_usd, most: max_item_usd }
    : { least: min_total_usd, most: max_total_usd };
}

function toCursor({ id, position, usd }: FoundPlace): Cursor {
  return { id, ...(position !== null && { position }), ...(usd !== null && { usd }) };
}

function cursorOf({ page_token: token, sort = 'time' }: Search, listed: Listed): Cursor | undefined {
  if (token === undefined) return undefined;
  const from = fromToken(token);
  if (from?.listed === listed && from.sort === sort) return from.cursor;
  const other = from ? ` of ${from.listed} by ${from.sort}` : '';
  const detail = `must be the next_page_token of an answer of ${listed} by ${sort}; this is one${other}`;
  throw new Problem('invalid_request', { faults: [{ pointer: '/page_token', detail }] });
}

/** What contradicts itself is a mistake, and an empty answer would hide it. */
function requireSense({ min_item_usd, max_item_usd, min_total_usd, max_total_usd }: SearchFilters): void {
  const faults: Fault[] = [];
  const compare = (name: string, least: string | undefined, most: string | undefined) => {
    if (least === undefined || most === undefined || new Decimal(least).lte(most)) return;
    faults.push({ pointer: `/min_${name}_usd`, detail: `must be at most max_${name}_usd` });
  };
  compare('item', min_item_usd, max_item_usd);
  compare('total', min_total_usd, max_total_usd);
  if (faults.length > 0) throw new Problem('invalid_request', { faults });
}
