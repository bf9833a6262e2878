import { Injectable } from '@nestjs/common';
import { ChangeAuthor } from '../../access/clients/changes';
import { CsvTable } from '../../http/answers/csv';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { isUuid } from '../../platform/database/uuid';
import { maskContacts } from '../../platform/privacy/contacts';
import { rowsToRead, toPage } from '../../platform/schema/page';
import { canonical } from '../../policy/content';
import { CallRecord } from '../records/record.dto';
import { shown, clientOf, readClients, View } from '../records/view';
import {
  ActivityCsvSearch,
  ActivityCursor,
  ActivityFilters,
  ActivityPage,
  ActivityRecord,
  ActivitySearch,
  fromActivityToken,
  toActivityToken,
} from './access-log.dto';
import { ActivityState } from './activity-state.dto';

interface ActivityRow extends ChangeAuthor {
  id: string;
  action: string;
  at: Date;
  /** The same instant, in microseconds. */
  exactly: string;
  targetClientId: string | null;
  targetKeyId: string | null;
  operation: string | null;
  before: string | null;
  after: string | null;
}

/** Parts of a call by which its earlier acts are found. */
type ActContext = Pick<CallRecord, 'client' | 'operation' | 'timings'>;

/** Acts without a client that affect the calls of every client. */
const ABOUT_ALL_CLIENTS = ['stop_set', 'stop_lifted', 'configuration_changed'];

/** Routine acts of apps. They are listed only if a filter names them. */
const APP_ACTS = ['ephemeral_key_issued', 'ephemeral_key_revoked'];
/** Literals, because the condition must equal that of the index of all other acts. */
const IS_APP_ACT = Prisma.sql`action IN ('ephemeral_key_issued', 'ephemeral_key_revoked')`;

const ACT_ROWS = Prisma.sql`
  SELECT
    id, action, acted_at AS at, target_client_id, target_key_id, NULL AS operation, before, after, via,
    client_id, key_id, actor, client_address, request_id, call_id, reason
  FROM activity WHERE`;

const APP_ACT_ROWS = Prisma.sql`${ACT_ROWS} ${IS_APP_ACT}`;

/** All administrative acts in one form. Stops, erasures and prunings have records without a request. */
const ACTS = Prisma.sql`${ACT_ROWS} NOT ${IS_APP_ACT}
  UNION ALL
  SELECT
    id, 'stop_set', stopped_at, stops_client_id, NULL, stops_operation, NULL, NULL,
    CASE
      WHEN client_id IS NOT NULL THEN coalesce(via, 'api')
      WHEN cause IS NOT NULL AND actor IS NULL THEN 'proxy'
      ELSE 'cli'
    END,
    client_id, key_id, actor, NULL, NULL, NULL, reason
  FROM stop
  UNION ALL
  SELECT
    s.id, 'stop_lifted', l.lifted_at, s.stops_client_id, NULL, s.stops_operation, NULL, NULL,
    CASE WHEN l.client_id IS NULL THEN 'cli' ELSE coalesce(l.via, 'api') END,
    l.client_id, l.key_id, l.actor, NULL, NULL, NULL, NULL
  FROM stop_lift l JOIN stop s ON s.id = l.stop_id
  UNION ALL
  SELECT
    id, 'person_erased', erased_at, NULL, NULL, NULL, NULL,
    json_build_object('erased', kind, 'places', cardinality(places))::text,
    'cli', NULL, NULL, actor, NULL, NULL, NULL, reason
  FROM erasure
  UNION ALL
  SELECT
    id, 'month_pruned', pruned_at, NULL, NULL, NULL, NULL,
    json_build_object('pruned', what, 'month', month, 'calls', rows, 'kept', cardinality(kept))::text,
    'cli', NULL, NULL, actor, NULL, NULL, NULL, reason
  FROM pruning`;

/** Acts per read of an export. */
const BATCH = 1_000;

/** Maximum number of acts in the timeline of a call. */
const MAX_ACTS_BEFORE = 20;

/** Lists and exports changes of clients, limits, scopes and keys, stops, and deletions from the history. */
@Injectable()
export class ActivityService {
  constructor(private readonly prisma: SidePrisma) {}

  async search(search: ActivitySearch, reveal: boolean): Promise<ActivityPage> {
    const after = fromActivityToken(search.page_token ?? '');
    const found = await this.read(await this.matching(search), after, rowsToRead(search));
    const { rows, nextPageToken } = toPage(found, search, {
      tokenOf: (last) => toActivityToken(cursorOf(last)),
    });
    return { activity: await this.present(rows, reveal), next_page_token: nextPageToken };
  }

  async count(filters: ActivityFilters): Promise<number> {
    const [{ count }] = await this.prisma.$queryRaw<[{ count: number }]>`
      SELECT count(*)::int AS count FROM ${await this.matching(filters)}`;
    return count;
  }

  /** Streams the acts in constant memory. */
  async *csv(
    { delimiter = 'comma', ...filters }: ActivityCsvSearch,
    reveal: boolean,
  ): AsyncGenerator<string, void> {
    yield ACTIVITY_TABLE.heading(delimiter);
    const matching = await this.matching(filters);
    let after: ActivityCursor | undefined;
    do {
      const rows = await this.read(matching, after, BATCH);
      const last = rows.at(-1);
      if (last) yield ACTIVITY_TABLE.rows(await this.present(rows, reveal), delimiter);
      after = last && rows.length === BATCH ? cursorOf(last) : undefined;
    } while (after !== undefined);
  }

  /** Returns the acts of the day before a call that may have affected it, newest first. */
  async before(
    { client, operation, timings: { recorded_at: at } }: ActContext,
    reveal: boolean,
  ): Promise<ActivityRecord[]> {
    const matching = Prisma.sql`(${ACTS}) AS act WHERE at >= ${at}::timestamptz - interval '1 day'
      AND at < ${at}
      AND (target_client_id = ${client.id}::uuid
        OR target_client_id IS NULL AND action = ANY (${ABOUT_ALL_CLIENTS}))
      AND coalesce(operation = ${operation}, TRUE)`;
    return this.present(await this.read(matching, undefined, MAX_ACTS_BEFORE), reveal);
  }

  /** Reads the acts after a cursor, newest first. */
  private async read(
    matching: Prisma.Sql,
    after: ActivityCursor | undefined,
    limit: number,
  ): Promise<ActivityRow[]> {
    const rest = after
      ? Prisma.sql`AND (at, id, action) < (${after.at}::timestamptz, ${after.id}::uuid, ${after.action})`
      : Prisma.empty;
    return this.prisma.$queryRaw<ActivityRow[]>`
      SELECT
        id::text, action, at, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS exactly,
        target_client_id::text AS "targetClientId", target_key_id::text AS "targetKeyId", operation,
        before, after, via, client_id::text AS "clientId", key_id::text AS "keyId", actor,
        client_address AS "clientAddress", request_id AS "requestId", call_id::text AS "callId", reason
      FROM ${matching} ${rest}
      ORDER BY at DESC, id DESC, action DESC LIMIT ${limit}`;
  }

  /** Returns the acts with these filters, as a FROM and a WHERE clause. */
  private async matching(filters: ActivityFilters): Promise<Prisma.Sql> {
    const { from, to, action, actor, via, client, by } = filters;
    const conditions = [Prisma.sql`TRUE`];
    if (from !== undefined) conditions.push(Prisma.sql`at >= ${new Date(from)}`);
    if (to !== undefined) conditions.push(Prisma.sql`at < ${new Date(to)}`);
    if (action !== undefined) conditions.push(Prisma.sql`action = ${action}`);
    if (actor !== undefined) conditions.push(Prisma.sql`actor = ${actor}`);
    if (via !== undefined) conditions.push(Prisma.sql`via = ${via}`);
    if (client !== undefined)
      conditions.push(Prisma.sql`target_client_id = ${await this.idOf(client)}::uuid`);
    if (by !== undefined) conditions.push(Prisma.sql`client_id = ${await this.idOf(by)}::uuid`);
    const acts = action !== undefined && APP_ACTS.includes(action) ? APP_ACT_ROWS : ACTS;
    return Prisma.sql`(${acts}) AS act WHERE ${Prisma.join(conditions, ' AND ')}`;
  }

  /** Returns the ID of a client. Null for an unknown name, which matches nothing. */
  private async idOf(client: string): Promise<string | null> {
    if (isUuid(client)) return client;
    const found = await this.prisma.client.findUnique({ where: { name: client }, select: { id: true } });
    return found?.id ?? null;
  }

  private async present(rows: ActivityRow[], reveal: boolean): Promise<ActivityRecord[]> {
    const ids = rows.flatMap(({ targetClientId, clientId }) => [targetClientId, clientId]);
    const view = { clients: await readClients(this.prisma, ids), reveal };
    return rows.map((row) => toRecord(row, view));
  }
}

function cursorOf({ exactly, id, action }: ActivityRow): ActivityCursor {
  return { at: exactly, id, action };
}

function toRecord(row: ActivityRow, view: Pick<View, 'clients' | 'reveal'>): ActivityRecord {
  const client = (id: string | null) => (id === null ? null : clientOf(id, view));
  return {
    id: row.id,
    at: row.at,
    action: row.action,
    target: { client: client(row.targetClientId), key_id: row.targetKeyId, operation: row.operation },
    before: stateIn(row.before),
    after: stateIn(row.after),
    by: {
      client: client(row.clientId),
      key_id: row.keyId,
      actor: shown(row.actor, view.reveal, maskContacts),
    },
    via: row.via,
    client_address: row.clientAddress,
    request_id: row.requestId,
    call_id: row.callId,
    reason: row.reason,
  };
}

function stateIn(text: string | null): ActivityState | null {
  return text === null ? null : (JSON.parse(text) as ActivityState);
}

/** Columns of an export of acts: event, target and author. */
const ACTIVITY_TABLE = new CsvTable<ActivityRecord>({
  act_id: ({ id }) => id,
  at: ({ at }) => at.toISOString(),
  action: ({ action }) => action,
  client: ({ target }) => target.client?.name ?? null,
  client_id: ({ target }) => target.client?.id ?? null,
  key_id: ({ target }) => target.key_id,
  operation: ({ target }) => target.operation,
  before: ({ before }) => textOf(before),
  after: ({ after }) => textOf(after),
  by_client: ({ by }) => by.client?.name ?? null,
  by_client_id: ({ by }) => by.client?.id ?? null,
  by_key_id: ({ by }) => by.key_id,
  by_actor: ({ by }) => by.actor,
  via: ({ via }) => via,
  client_address: ({ client_address }) => client_address,
  request_id: ({ request_id }) => request_id,
  call_id: ({ call_id }) => call_id,
  reason: ({ reason }) => reason,
});

function textOf(state: ActivityState | null): string | null {
  return state && canonical(state);
}
