import { Injectable } from '@nestjs/common';
import { RecordedItem } from '../../journal/recorded-calls';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { PresentService } from './present.service';
import { CallRecord, FullCallRecord, ItemRecord } from './record.dto';
import { fromIntent, fromRefusal, toItemRecord, toMessages } from './record';
import { Place } from './page';
import { newestVerdicts } from './resolver-verdicts';
import { FullIntentRow, toFullIntentRow, toIntentRow, WITH_BODIES, WITH_RECORDS } from './rows';
import { View } from './view';

/** The number of items per call in a list of calls. */
const ITEMS_IN_LISTS = 100;

type Named = {
  clientId: string;
  decision?: { clientId: string } | null;
  resolution?: (ByClient & { superseded: ByClient[] }) | null;
};
interface ByClient {
  clientId: string | null;
}
type Bytes = { body: Uint8Array } | null;

/** A call's record, and its rows. */
interface FoundCall {
  record: FullCallRecord;
  intent: FullIntentRow | null;
}

/** Reads what the journal wrote. */
@Injectable()
export class RecordsService {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly present: PresentService,
  ) {}

  /** Returns calls in the order of `ids`. */
  async list(ids: string[], reveal: boolean): Promise<CallRecord[]> {
    const byId = await this.read(ids, reveal, (items) => items.slice(0, ITEMS_IN_LISTS));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  /** Returns payouts with the fields of their calls, in the order of `places`. */
  async items(places: Place[], reveal: boolean): Promise<ItemRecord[]> {
    const ids = [...new Set(places.map(({ id }) => id))];
    const positions = new Set(places.map(({ position }) => position));
    const byId = await this.read(ids, reveal, (items) => items.filter(({ position }) => positions.has(position)));
    return places.flatMap(({ id, position }) => {
      const call = byId.get(id);
      const item = call?.items.find((one) => one.position === position);
      return call && item ? toItemRecord(call, item) : [];
    });
  }

  /** Reads calls by their IDs, with the items that `select` returns. */
  private async read(
    ids: string[],
    reveal: boolean,
    select: (items: RecordedItem[]) => RecordedItem[],
  ): Promise<Map<string, CallRecord>> {
    const present = await this.present.read();
    const where = { id: { in: ids } };
    const [found, refusals] = await Promise.all([
      this.prisma.intent.findMany({ where, include: WITH_RECORDS }),
      this.prisma.refusal.findMany({ where }),
    ]);
    const intents = found.map(toIntentRow).map((intent) => ({ ...intent, items: select(intent.items) }));
    const clientNames = await this.namesIn([...intents, ...refusals]);
    const verdicts = await newestVerdicts(this.prisma, intents);
    const view = { reveal, present, clientNames, verdicts, showsOthers: false };
    const byId = new Map(intents.map((intent) => [intent.id, fromIntent(intent, view)]));
    // A refusal replaces its intent, if there are both (call_state of the migrations). The request is that of the
    // intent.
    for (const refusal of refusals) {
      byId.set(refusal.id, { ...fromRefusal(refusal, view), items: byId.get(refusal.id)?.items ?? [] });
    }
    return byId;
  }

  /** @param clientId finds only calls of this client. */
  async one(id: string, reveal: boolean, clientId?: string): Promise<FullCallRecord | undefined> {
    return (await this.withRows(id, reveal, clientId))?.record;
  }

  /** Reads one call, with the rows that its record was made of. `intent` is null if a refusal stands for the call. */
  async withRows(id: string, reveal: boolean, clientId?: string): Promise<FoundCall | undefined> {
    const present = await this.present.read();
    const where = { id, ...(clientId !== undefined && { clientId }) };
    const viewOf = async (row: Named, verdicts: View['verdicts']): Promise<View> => ({
      reveal,
      present,
      verdicts,
      showsOthers: clientId === undefined,
      clientNames: await this.namesIn([row]),
    });
    const refusal = await this.prisma.refusal.findUnique({ where });
    if (refusal) {
      const record = fromRefusal(refusal, await viewOf(refusal, new Map()));
      return { record: { ...record, request: null, response: null }, intent: null };
    }
    const intent = await this.intent(where);
    if (!intent) return undefined;
    const response = await this.responseOf(intent.outcome);
    const view = await viewOf(intent, await newestVerdicts(this.prisma, [intent]));
    return { record: { ...fromIntent(intent, view), ...toMessages(intent, response, reveal) }, intent };
  }

  /** The rows of one call. */
  async intent(where: { id: string; clientId?: string }): Promise<FullIntentRow | null> {
    const found = await this.prisma.intent.findUnique({ where, include: WITH_BODIES });
    return found && toFullIntentRow(found);
  }

  /** Returns the bytes of an answer. They are stored with the call that fetched it. */
  private async responseOf(outcome: { answerOf: string | null; body: Bytes } | null): Promise<Bytes> {
    if (!outcome?.answerOf) return outcome?.body ?? null;
    return this.prisma.outcomeBody.findUnique({ where: { intentId: outcome.answerOf } });
  }

  /** Returns the names of the clients that requested, decided and settled. */
  private async namesIn(rows: Named[]): Promise<Map<string, string>> {
    const ids = rows.flatMap(({ clientId, decision, resolution }) => [
      clientId,
      decision?.clientId,
      resolution?.clientId,
      ...(resolution?.superseded.map((one) => one.clientId) ?? []),
    ]);
    const known = ids.filter((id) => typeof id === 'string');
    const clients = await this.prisma.client.findMany({ where: { id: { in: [...new Set(known)] } } });
    return new Map(clients.map(({ id, name }) => [id, name]));
  }
}
