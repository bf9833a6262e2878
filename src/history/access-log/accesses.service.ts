import { Injectable } from '@nestjs/common';
import { FastifyRequest } from 'fastify';
import { Call, mayReveal } from '../../access/auth/call';
import { AccessRecorder, ShownHistory } from '../../access/auth/route-access';
import { isEndUser } from '../../access/people/person';
import { AccessJournal } from '../../journal/activity/access-journal';
import { Prisma } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { isUuid, uuidFloor } from '../../platform/database/uuid';
import { Problem } from '../../platform/errors/problem';
import { DOTS, maskContacts, maskEmail, maskPhone, maskProse } from '../../platform/privacy/contacts';
import { idBefore, Page, rowsToRead, toPage } from '../../platform/schema/page';
import { shown, clientOf, readClients, View } from '../records/view';
import { AccessRecord, AccessSearch } from './access-log.dto';

/** Records reads of the history. */
@Injectable()
export class ReadingsService implements AccessRecorder {
  constructor(private readonly accesses: AccessJournal) {}

  async record({ call, query, method }: FastifyRequest, shown: ShownHistory): Promise<void> {
    const { id, caller = null, person, operation, requestId, clientAddress } = call;
    const filters = { ...(shown.callId === undefined && filtersIn(query)), ...shown.about };
    try {
      await this.accesses.begin({
        id,
        caller,
        // Use the ID of an end user, because this record cannot be erased.
        actor: person && isEndUser(person) ? person.id : (person?.name ?? null),
        route: operation,
        requestId,
        clientAddress,
        filters,
        maskedFilters: maskFilters(filters),
        callId: shown.callId ?? null,
        callIds: shown.callIds ?? [],
        revealed: (shown.people && mayReveal(call)) || namesRecipient(filters) || shown.compares === true,
        rows: shown.rows,
      });
    } catch (cause) {
      throw new Problem('database_unavailable', { text: textFor(method, call), cause });
    }
  }
}

/** Returns the filters of a validated query. Only routes without filters have values other than text. */
function filtersIn(query: unknown): Record<string, string> {
  const given = Object.entries(query as Record<string, unknown>);
  return Object.fromEntries(given.filter((one): one is [string, string] => typeof one[1] === 'string'));
}

function textFor(method: string, { operation }: Call): string {
  const cause = 'your access to the history could not be recorded, so nothing is shown';
  if (method === 'GET')
    return `The database of the proxy cannot be reached or is too busy: ${cause}. Try again in a moment.`;
  return `${operation} was carried out, but ${cause}. Do not send it again. Read the call in a moment.`;
}

/** Filters whose values cannot identify a person: words, numbers, instants and our own IDs. */
const IMPERSONAL_FILTERS = new Set([
  'from',
  'to',
  'page_size',
  'page_token',
  'sort',
  'group_by',
  'format',
  'what',
  'outcome',
  'in_doubt',
  'approval',
  'status',
  'http_status',
  'actor_source',
  'key',
  'call',
  'min_item_usd',
  'max_item_usd',
  'min_total_usd',
  'max_total_usd',
]);

/** Filters by recipient, whole or in part. A value that is no contact may be a name. */
const RECIPIENT_FILTERS = new Set(['recipient', 'recipient_prefix']);

/** Filters by requester. Any text can be the name of a person. */
const REQUESTER_FILTERS = new Set(['actor']);

/** Digits of a possible phone number, in groups or not. */
const NUMBER = /\d(?:[ ._()/-]{0,3}\d){6,}/g;

/** Returns whether filters name a person. Even an empty or masked result then reveals a payment. */
function namesRecipient(filters: Record<string, string>): boolean {
  return Object.keys(filters).some((name) => RECIPIENT_FILTERS.has(name));
}

/** Masks the filters of a search for its record, which can never be erased. */
export function maskFilters(filters: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, masked(name, value)]));
}

function masked(name: string, value: string): string {
  if (IMPERSONAL_FILTERS.has(name)) return value;
  if (REQUESTER_FILTERS.has(name)) return DOTS;
  // Too many masked numbers lose nothing: a row that can be erased has the original filters.
  if (!RECIPIENT_FILTERS.has(name) && isUuid(value)) return value; // Its digits are random.
  if (!RECIPIENT_FILTERS.has(name)) return maskProse(value).replace(NUMBER, DOTS);
  if (/^\+\d+$/.test(value)) return maskPhone(value);
  return value.lastIndexOf('@') > 0 ? maskEmail(value) : DOTS;
}

type AccessRow = Prisma.AccessGetPayload<{ include: { end: true } }>;

/** Maximum number of accesses in the timeline of a call. */
const NEWEST = 100;

/** Lists the reads of the history. */
@Injectable()
export class AccessesService {
  constructor(private readonly prisma: ReaderPrisma) {}

  async search(search: AccessSearch, reveal: boolean): Promise<Page<AccessRecord>> {
    const { from, to, key, actor, call } = search;
    const before = idBefore(search);
    const rows = await this.prisma.access.findMany({
      where: {
        AND: [
          ...(from === undefined ? [] : [{ id: { gte: uuidFloor(new Date(from)) } }]),
          ...(to === undefined ? [] : [{ id: { lt: uuidFloor(new Date(to)) } }]),
          ...(before === undefined ? [] : [{ id: { lt: before } }]),
          ...(search.client === undefined
            ? []
            : [{ clientId: { in: await this.clientsNamed(search.client) } }]),
          ...(key === undefined ? [] : [{ keyId: key }]),
          ...(actor === undefined ? [] : [{ actor }]),
          ...(call === undefined ? [] : [ofCall(call)]),
        ],
      },
      include: { end: true },
      orderBy: { id: 'desc' },
      take: rowsToRead(search),
    });
    return toPage(await this.present(rows, reveal), search);
  }

  /** Returns the newest reads of a call, and the number of all its reads. */
  async ofCall(callId: string, reveal: boolean): Promise<{ accesses: AccessRecord[]; count: number }> {
    const where = ofCall(callId);
    const [rows, count] = await Promise.all([
      this.prisma.access.findMany({ where, include: { end: true }, orderBy: { id: 'desc' }, take: NEWEST }),
      this.prisma.access.count({ where }),
    ]);
    return { accesses: await this.present(rows, reveal), count };
  }

  private async clientsNamed(name: string): Promise<string[]> {
    if (isUuid(name)) return [name];
    const clients = await this.prisma.client.findMany({ where: { name }, select: { id: true } });
    return clients.map(({ id }) => id);
  }

  private async present(rows: AccessRow[], reveal: boolean): Promise<AccessRecord[]> {
    const ids = rows.filter(({ filtersCommitment }) => filtersCommitment !== null).map(({ id }) => id);
    const [clients, original] = await Promise.all([
      readClients(
        this.prisma,
        rows.map(({ clientId }) => clientId),
      ),
      reveal ? this.prisma.accessFilters.findMany({ where: { accessId: { in: ids } } }) : [],
    ]);
    const filters = new Map(original.map((one) => [one.accessId, Buffer.from(one.filters).toString('utf8')]));
    return rows.map((row) => toRecord(row, { clients, reveal }, filters.get(row.id)));
  }
}

function ofCall(id: string): Prisma.AccessWhereInput {
  return { OR: [{ callId: id }, { callIds: { has: id } }] };
}

/** @param original the filters before masking. Null if they may not be shown or were erased. */
function toRecord(
  row: AccessRow,
  view: Pick<View, 'clients' | 'reveal'>,
  original: string | undefined,
): AccessRecord {
  const { clientId, end } = row;
  return {
    id: row.id,
    read_at: row.readAt,
    client: clientId === null ? null : clientOf(clientId, view),
    key_id: row.keyId,
    actor: shown(row.actor, view.reveal, maskContacts),
    route: row.route,
    call_id: row.callId,
    call_ids: row.callIds,
    filters:
      original === undefined
        ? (row.filters as Record<string, string>)
        : (JSON.parse(original) as Record<string, string>),
    revealed: row.revealed,
    rows: row.rows,
    request_id: row.requestId,
    client_address: row.clientAddress,
    end: end && {
      complete: end.complete,
      rows: Number(end.rows),
      sha256: end.sha256 && Buffer.from(end.sha256).toString('hex'),
      checkpoint_size: end.checkpointSize === null ? null : Number(end.checkpointSize),
      ended_at: end.endedAt,
    },
  };
}
