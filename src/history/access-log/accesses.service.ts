import { Injectable } from '@nestjs/common';
import { Prisma } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { isUuid, uuidFloor } from '../../platform/database/uuid';
import { AccessRecord, AccessSearch } from './access-log.dto';
import { maskContacts } from '../records/masking';
import { idBefore, Page, rowsToRead, toPage } from '../../platform/schema/page';
import { shown } from '../records/view';

type AccessRow = Prisma.AccessGetPayload<{ include: { end: true } }>;

/** The number of accesses that the story of a call shows. */
const NEWEST = 100;

/** Lists who has read the history. */
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
          ...(search.client === undefined ? [] : [{ clientId: { in: await this.clientsNamed(search.client) } }]),
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
    const clientIds = rows.flatMap(({ clientId }) => clientId ?? []);
    const ids = rows.filter(({ filtersCommitment }) => filtersCommitment !== null).map(({ id }) => id);
    const [clients, asked] = await Promise.all([
      this.prisma.client.findMany({ where: { id: { in: [...new Set(clientIds)] } }, select: { id: true, name: true } }),
      reveal ? this.prisma.accessFilters.findMany({ where: { accessId: { in: ids } } }) : [],
    ]);
    const names = new Map(clients.map(({ id, name }) => [id, name]));
    const filters = new Map(asked.map((one) => [one.accessId, Buffer.from(one.filters).toString('utf8')]));
    return rows.map((row) => toRecord(row, names, filters.get(row.id), reveal));
  }
}

function ofCall(id: string): Prisma.AccessWhereInput {
  return { OR: [{ callId: id }, { callIds: { has: id } }] };
}

/** @param asked the filters before masking. Null if they may not be shown or were erased. */
function toRecord(
  row: AccessRow,
  names: Map<string, string>,
  asked: string | undefined,
  reveal: boolean,
): AccessRecord {
  const { clientId, end } = row;
  return {
    id: row.id,
    read_at: row.readAt,
    client: clientId === null ? null : { id: clientId, name: names.get(clientId) ?? null },
    key_id: row.keyId,
    actor: shown(row.actor, reveal, maskContacts),
    route: row.route,
    call_id: row.callId,
    call_ids: row.callIds,
    filters:
      asked === undefined ? (row.filters as Record<string, string>) : (JSON.parse(asked) as Record<string, string>),
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
