import { Injectable } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { Call, maySeePeople } from '../../access/auth/call';
import { Owner } from '../../access/auth/owner';
import { Prisma } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { ReplicaService } from '../../platform/database/pools/replica.service';
import { Fault, Problem } from '../../platform/errors/problem';
import { Page, PageRequest, rowsToRead, toPage } from '../../platform/schema/page';
import { phonesMeantBy } from '../../recipients/phone-candidates';
import { PayoutPosition, PresentService } from '../records/records.service';
import { conditionsOf, rangeOf, CountedKind, termsOf } from './filters';
import { IndexService } from './index.service';
import { counted, matching, Scope } from './matching';
import { pageOfNamed, withNamed } from './names';
import { PageRow, Query, sliced, walked, whole } from './pages';
import { Cursor, fromToken, ResultKind, Sort, toToken, SearchFilters } from './search.dto';

/** Rows to read in order before a search by terms: some milliseconds, enough if 1 of 100 rows matches. */
const BUDGET = 5_000;
/** Rows to read in order per row of an export batch. An export does not read skipped rows again. */
const BUDGET_PER_ROW = 60;

type Search = SearchFilters & PageRequest & { sort?: Sort };

/** Options of a search. */
interface SearchOptions {
  /** Limits the result to calls of this owner, and omits replays and other repetitions. */
  owner?: Owner | undefined;
  /** Aborted when the caller has left. */
  gone?: AbortSignal | undefined;
}

/** Finds calls and payouts with the search index. records.service.ts reads their content. */
@Injectable()
export class SearchService {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly replica: ReplicaService,
    private readonly present: PresentService,
    private readonly index: IndexService,
  ) {}

  /**
   * Returns one page, newest or largest first. Finds everything that had committed before the request.
   * @param gone cancels the search.
   */
  async search(
    search: Search,
    listed: ResultKind = 'calls',
    { owner, gone }: SearchOptions = {},
  ): Promise<Page<PayoutPosition>> {
    const after = cursorOf(search, listed);
    const scope = await this.prepare(search, listed, { owner, gone });
    const { sort = 'time' } = search;
    const query: Query = {
      ...scope,
      listed,
      sort,
      direction: 'desc',
      ...(sort === 'amount' && amountsOf(search, listed)),
    };
    const found = await this.page(query, after, { limit: rowsToRead(search), budget: BUDGET, gone });
    return toPage(found, search, { tokenOf: (last) => toToken(listed, sort, toCursor(last)) });
  }

  /**
   * Opens a search for `walk` and `count`. It finds all calls until now, oldest first.
   * @throws Problem if the search contradicts itself.
   */
  async open(search: SearchFilters, listed: ResultKind): Promise<Query> {
    const scope = await this.prepare(search, listed);
    const [newest] = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT call_id::text AS id FROM indexed_call ORDER BY call_id DESC LIMIT 1`;
    if (newest) scope.conditions.others.push(Prisma.sql`call_id <= ${newest.id}::uuid`);
    return { ...scope, listed, sort: 'time', direction: 'asc' };
  }

  /** Returns batches of results. The last one may be smaller. None is empty. */
  async *walk(query: Query, { batch }: { batch: number }): AsyncGenerator<PayoutPosition[], void> {
    let after: Cursor | undefined;
    for (;;) {
      const found = await this.page(query, after, { limit: batch, budget: batch * BUDGET_PER_ROW });
      if (found.length > 0) yield found.map(({ id, position }) => ({ id, position }));
      const last = found.at(-1);
      if (!last || found.length < batch) return;
      after = toCursor(last);
    }
  }

  /** @param signal cancels the count. */
  async count(query: Query, signal?: AbortSignal): Promise<number> {
    const read = async (reader: ReaderPrisma) => {
      const named = await withNamed(reader, query, signal);
      const sql = Prisma.sql`
        SELECT ${counted(query, query.listed)}::float8 AS count FROM indexed_call WHERE ${matching(named)}`;
      return reader.readLong<{ count: number }>(sql, signal);
    };
    const [row] = await this.replica.read(read, { index: true, signal });
    return row?.count ?? 0;
  }

  /** Waits until everything committed is indexed, and returns the scope. */
  async prepare(
    search: SearchFilters,
    rows: CountedKind,
    { owner, gone }: SearchOptions = {},
  ): Promise<Scope> {
    requireValidBounds(search);
    const present = await this.present.read(); // Before the records, see PresentService.read.
    await this.index.catchUp();
    const named = {
      clientIds: await this.clientsOf(search, owner),
      phones: await this.phonesOf(search, gone),
    };
    const conditions = conditionsOf(search, rows, named, present);
    if (owner) {
      conditions.terms.push(...termsOf(owner));
      conditions.others.push(Prisma.sql`NOT repeats`);
    }
    return { conditions, ...rangeOf(search) };
  }

  private async page(
    query: Query,
    after: Cursor | undefined,
    { limit, budget, gone }: { limit: number; budget: number; gone?: AbortSignal | undefined },
  ): Promise<PageRow[]> {
    return this.replica.read(
      async (reader) => {
        const ask = (sql: Prisma.Sql) => reader.readLong<PageRow>(sql, gone);
        const named = await pageOfNamed(reader, query, after, { limit, gone });
        if (named) return named;
        if (query.conditions.few) return ask(whole(query, after, limit));
        if (!query.conditions.rare) {
          const found = await ask(walked(query, after, limit, budget));
          if (found.length === limit) return found;
        }
        return ask(sliced(query, after, limit));
      },
      { index: true, signal: gone },
    );
  }

  /** Returns the indexed numbers of the recipient. Every country can have a number without its code. */
  private async phonesOf(
    { recipient = '' }: SearchFilters,
    gone: AbortSignal | undefined,
  ): Promise<string[]> {
    const candidates = phonesMeantBy(recipient);
    if (candidates.length < 2) return candidates;
    // A count, because the planner could expect an early match of EXISTS and read the index from its start.
    const sql = Prisma.sql`
      SELECT phone FROM unnest(${candidates}::text[]) AS phone
      CROSS JOIN LATERAL (SELECT count(*) FROM indexed_call WHERE terms @> ARRAY['to:' || phone]) AS paid
      WHERE paid.count > 0`;
    const rows = await this.prisma.readLong<{ phone: string }>(sql, gone);
    return rows.map(({ phone }) => phone);
  }

  /**
   * Returns the IDs of clients with a name, an ID or an account. A client's name may equal another client's
   * ID, and a client keeps its account.
   */
  private async clientsOf(
    { client, account }: SearchFilters,
    owner: Owner | undefined,
  ): Promise<string[] | undefined> {
    if ((client === undefined && account === undefined) || owner) return undefined;
    const [name, of] = [client ?? null, account ?? null];
    const rows = await this.prisma.$queryRaw<{ id: string }[]>`
      SELECT id::text FROM client
      WHERE (${name}::text IS NULL OR name = ${name} OR id::text = lower(${name}))
        AND (${of}::text IS NULL OR account = ${of})`;
    return rows.map(({ id }) => id);
  }
}

/** Returns the bounds of the amounts to sort by. */
function amountsOf(
  { min_item_usd, max_item_usd, min_total_usd, max_total_usd }: SearchFilters,
  listed: ResultKind,
) {
  return listed === 'items'
    ? { least: min_item_usd, most: max_item_usd }
    : { least: min_total_usd, most: max_total_usd };
}

function toCursor({ id, position, usd }: PageRow): Cursor {
  return { id, ...(position !== null && { position }), ...(usd !== null && { usd }) };
}

function cursorOf({ page_token: token, sort = 'time' }: Search, listed: ResultKind): Cursor | undefined {
  if (token === undefined) return undefined;
  const from = fromToken(token);
  if (from?.listed === listed && from.sort === sort) return from.cursor;
  const other = from ? `. This token is for ${from.listed} by ${from.sort}` : '';
  const detail = `must be the next_page_token of a list of ${listed} by ${sort}${other}`;
  throw new Problem('invalid_request', { faults: [{ pointer: '/page_token', detail }] });
}

/** Rejects contradictory bounds. An empty result would hide the mistake. */
function requireValidBounds({
  min_item_usd,
  max_item_usd,
  min_total_usd,
  max_total_usd,
}: SearchFilters): void {
  const faults: Fault[] = [];
  const compare = (name: string, least: string | undefined, most: string | undefined) => {
    if (least === undefined || most === undefined || new Decimal(least).lte(most)) return;
    faults.push({ pointer: `/min_${name}_usd`, detail: `must be at most max_${name}_usd` });
  };
  compare('item', min_item_usd, max_item_usd);
  compare('total', min_total_usd, max_total_usd);
  if (faults.length > 0) throw new Problem('invalid_request', { faults });
}

/**
 * Rejects a search by recipient for keys that may not see people. Even masked results would reveal payouts to
 * a person. Prefix by prefix, some seventy requests find a phone number.
 * @throws Problem `scope_missing`
 */
export function requireMaySearchPeople(call: Call, search: SearchFilters): void {
  if (search.recipient === undefined && search.recipient_prefix === undefined) return;
  if (maySeePeople(call)) return;
  throw new Problem('scope_missing', {
    text:
      'Searching by recipient or recipient_prefix requires a key with the scope audit:pii, because the ' +
      'results reveal recipients. Use other filters, or ask the operator for the scope.',
  });
}
