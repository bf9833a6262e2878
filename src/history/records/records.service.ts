import { Inject, Injectable } from '@nestjs/common';
import { isOwn, Owner } from '../../access/auth/owner';
import { Present, present } from '../../operations/lifecycle/lifecycle';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { givenUpAfterMs } from '../../platform/config/upstream/upstream-timeouts';
import { runInTurns, TaskRunner, CooperativeTask } from '../../platform/cooperative-task';
import { Prisma } from '../../platform/database/generated/client';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { ReplicaService } from '../../platform/database/pools/replica.service';
import { fromStored } from '../../platform/database/rows/stored-body';
import { fromIntent, fromRefusal, toItemRecord, toMessages } from './record';
import { CallRecord, FullCallRecord, ItemRecord } from './record.dto';
import {
  FullStoredCall,
  RecordsAndBodiesRow,
  recordsAndBodiesOf,
  recordsOf,
  RecordsRow,
  StoredCall,
  toFullStoredCall,
  toStoredCall,
} from './rows';
import { newestVerdicts, View, readClients } from './view';

interface PresentRow {
  now: Date;
  live: number[];
}

const PRESENT = Prisma.sql`
  SELECT date_trunc('milliseconds', clock_timestamp()) AS now, ARRAY(SELECT live_processes()) AS live`;

/** Reads the time and the live processes from the database. */
@Injectable()
export class PresentService {
  constructor(
    private readonly prisma: ReaderPrisma,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  /**
   * Reads the present. Call it before reading records. Otherwise a call would look abandoned if its process
   * recorded an outcome and ended in between.
   */
  async read(): Promise<Present> {
    const [row] = await this.prisma.$queryRaw<PresentRow[]>(PRESENT);
    return this.of(row);
  }

  /** Reads the present, like `read`, for long reads. */
  async readLong(): Promise<Present> {
    const [row] = await this.prisma.readLong<PresentRow>(PRESENT);
    return this.of(row);
  }

  private of(row: PresentRow | undefined): Present {
    if (!row) throw new Error('the database did not return the time');
    return present(row.now, row.live, givenUpAfterMs(this.settings));
  }
}

/** A payout, or a call as a whole. */
export interface PayoutPosition {
  id: string;
  position: number | null;
}

/** Number of items per call in a list of calls. */
const ITEMS_IN_LISTS = 100;

/** Records per turn of the event loop. Payments get their turns in between. */
const RECORDS_PER_TURN = 20;

type Bytes = { body: Uint8Array } | null;

/** A call in the form of the API, and its records. Null if the call has only a refusal. */
interface CallWithRecords {
  record: FullCallRecord;
  stored: FullStoredCall | null;
}

/** Reads calls and payouts from the journal, in the form of the API. */
@Injectable()
export class RecordsService {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly replica: ReplicaService,
    private readonly present: PresentService,
  ) {}

  /**
   * Returns calls in the order of `ids`.
   * @param owner limits the result to their calls.
   */
  async list(
    ids: string[],
    reveal: boolean,
    { pace = runInTurns, owner }: { pace?: TaskRunner; owner?: Owner } = {},
  ): Promise<CallRecord[]> {
    const shows = { reveal, ofPerson: isPerson(owner) };
    const byId = await this.read(ids, shows, pace, (position) => position < ITEMS_IN_LISTS);
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  /** Returns payouts with the fields of their calls, in the order of `positions`. */
  async listItems(positions: PayoutPosition[], reveal: boolean, pace: TaskRunner): Promise<ItemRecord[]> {
    const ids = [...new Set(positions.map(({ id }) => id))];
    const shown = new Set(positions.map(({ position }) => position));
    const isShown = (position: number) => shown.has(position);
    const byId = await this.read(ids, { reveal, ofPerson: false }, pace, isShown);
    return positions.flatMap(({ id, position }) => {
      const call = byId.get(id);
      const item = call?.items.find((candidate) => candidate.position === position);
      return call && item ? toItemRecord(call, item) : [];
    });
  }

  /** Reads calls by their IDs, with the items at some positions. */
  private async read(
    ids: string[],
    shows: Pick<View, 'reveal' | 'ofPerson'>,
    pace: TaskRunner,
    isShown: (position: number) => boolean,
  ): Promise<Map<string, CallRecord>> {
    const present = await this.present.readLong();
    const [rows, refusals] = await this.replica.read((reader) =>
      Promise.all([
        reader.readLong<RecordsRow>(recordsOf(ids)),
        reader.refusal.findMany({ where: { id: { in: ids } }, include: { key: true, person: true } }),
      ]),
    );
    const calls = await mapped(rows, toStoredCall, pace);
    const clients = await readClients(this.prisma, [
      ...calls.flatMap(clientsOf),
      ...refusals.map(({ clientId }) => clientId),
    ]);
    const verdicts = await newestVerdicts(this.prisma, calls);
    const view = { ...shows, present, clients, verdicts, showsOthers: false };
    const records = await mapped(calls, (call) => fromIntent(call, view, isShown), pace);
    const byId = new Map(records.map((record) => [record.id, record]));
    const released = new Set(calls.filter(isReleased).map(({ intent }) => intent.id));
    // A refusal replaces its intent, except for the items (call_state of the migrations).
    for (const refusal of refusals.filter(({ id }) => !released.has(id))) {
      byId.set(refusal.id, { ...fromRefusal(refusal, view), items: byId.get(refusal.id)?.items ?? [] });
    }
    return byId;
  }

  /** @param owner limits the result to their calls. */
  async readCall(id: string, reveal: boolean, owner?: Owner): Promise<FullCallRecord | undefined> {
    return (await this.findCall(id, reveal, owner))?.record;
  }

  /** Reads one call, with the shown records. */
  async findCall(id: string, reveal: boolean, owner?: Owner): Promise<CallWithRecords | undefined> {
    const present = await this.present.read();
    const viewOf = async (clientIds: string[], verdicts: View['verdicts']): Promise<View> => ({
      reveal,
      present,
      verdicts,
      showsOthers: owner === undefined,
      ofPerson: isPerson(owner),
      clients: await readClients(this.prisma, clientIds),
    });
    const refusal = await this.prisma.refusal.findUnique({
      where: { id },
      include: { key: true, person: true },
    });
    const stored = await this.readStored(id);
    if (refusal && !(stored && isReleased(stored))) {
      if (owner && !isOwn(refusal, owner)) return undefined;
      const record = fromRefusal(refusal, await viewOf([refusal.clientId], new Map()));
      return { record: { ...record, request: null, response: null }, stored: null };
    }
    if (!stored) return undefined;
    const { client_id: clientId, person_id: personId = null } = stored.intent;
    if (owner && !isOwn({ clientId, personId }, owner)) return undefined;
    const response = await this.responseOf(stored);
    const view = await viewOf(clientsOf(stored), await newestVerdicts(this.prisma, [stored]));
    return {
      record: { ...fromIntent(stored, view, () => true), ...toMessages(stored, response, reveal) },
      stored,
    };
  }

  /** Reads the records of one call. */
  async readStored(id: string): Promise<FullStoredCall | null> {
    const [found] = await this.prisma.readLong<RecordsAndBodiesRow>(recordsAndBodiesOf(id));
    return found ? toFullStoredCall(found) : null;
  }

  /** Returns the bytes of an answer, which are stored with the call that fetched it. */
  private async responseOf({ outcome, answer }: FullStoredCall): Promise<Bytes> {
    if (outcome?.answer_of === undefined) return answer;
    const row = await this.prisma.outcomeBody.findUnique({ where: { intentId: outcome.answer_of } });
    return row && { body: fromStored(row) };
  }
}

function isPerson(owner: Owner | undefined): boolean {
  return owner !== undefined && owner.person !== null;
}

/** Returns the IDs of the clients that requested, decided and settled. */
/** Whether a queued call was sent, whatever its app was told. */
function isReleased({ decision }: StoredCall): boolean {
  return decision?.kind === 'released';
}

function clientsOf({ intent, decision, settlements }: StoredCall): string[] {
  const settlers = settlements.map(({ client_id: clientId }) => clientId);
  return [intent.client_id, decision?.clientId, ...settlers].filter((id) => typeof id === 'string');
}

/** Maps a list in several turns of the event loop. */
async function mapped<From, To>(list: From[], map: (one: From) => To, pace: TaskRunner): Promise<To[]> {
  const all: To[] = [];
  await pace(mapping(list, map, all));
  return all;
}

/** Not nested, because V8 would retain the scope of a nested generator until a major garbage collection. */
function* mapping<From, To>(list: From[], map: (one: From) => To, all: To[]): CooperativeTask {
  for (const one of list) {
    all.push(map(one));
    if (all.length % RECORDS_PER_TURN === 0) yield;
  }
}
