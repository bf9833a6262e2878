import { Injectable } from '@nestjs/common';
import { PrismaService } from '../database/prisma.service';
import { PresentService } from './present.service';
import { CallRecord, FullCallRecord } from './record.dto';
import { fromIntent, fromRefusal, toMessages } from './record';
import { View } from './view';

/** Items of one call that a list of calls shows. */
const ITEMS_IN_LISTS = 100;

type Named = { clientId: string; decision?: { clientId: string } | null; resolution?: { clientId: string } | null };
type Bytes = { body: Uint8Array } | null;

/** Reads what the journal wrote. */
@Injectable()
export class RecordsService {
  constructor(
    private readonly prisma: PrismaService,
    private readonly present: PresentService,
  ) {}

  /** In the order of `ids`. */
  async list(ids: string[], reveal: boolean): Promise<CallRecord[]> {
    const present = await this.present.read();
    const where = { id: { in: ids } };
    const items = { include: { recipient: true }, orderBy: { position: 'asc' }, take: ITEMS_IN_LISTS } as const;
    const outcome = { include: { items: { orderBy: { ordinal: 'asc' } } } } as const;
    const [intents, refusals] = await Promise.all([
      this.prisma.intent.findMany({ where, include: { items, outcome, decision: true, resolution: true } }),
      this.prisma.refusal.findMany({ where }),
    ]);
    const view = { reveal, present, clientNames: await this.namesIn([...intents, ...refusals]) };
    // A refusal stands for its intent, if there is one too: see search.service.ts.
    const records = [
      ...intents.map((intent) => fromIntent(intent, view)),
      ...refusals.map((refusal) => fromRefusal(refusal, view)),
    ];
    const byId = new Map(records.map((record) => [record.id, record]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  }

  /** @param clientId shows only calls of this client. */
  async one(id: string, reveal: boolean, clientId?: string): Promise<FullCallRecord | undefined> {
    const present = await this.present.read();
    const where = { id, ...(clientId !== undefined && { clientId }) };
    const viewOf = async (row: Named): Promise<View> => ({ reveal, present, clientNames: await this.namesIn([row]) });
    const refusal = await this.prisma.refusal.findUnique({ where });
    if (refusal) return { ...fromRefusal(refusal, await viewOf(refusal)), request: null, response: null };
    const intent = await this.prisma.intent.findUnique({
      where,
      include: {
        items: { include: { recipient: true }, orderBy: { position: 'asc' } },
        outcome: { include: { items: { orderBy: { ordinal: 'asc' } }, body: true } },
        body: true,
        decision: true,
        resolution: true,
      },
    });
    if (!intent) return undefined;
    const response = await this.responseOf(intent.outcome);
    return { ...fromIntent(intent, await viewOf(intent)), ...toMessages(intent, response, reveal) };
  }

  /** The bytes of an answer are kept with the call that fetched it. */
  private async responseOf(outcome: { answerOf: string | null; body: Bytes } | null): Promise<Bytes> {
    if (!outcome?.answerOf) return outcome?.body ?? null;
    return this.prisma.outcomeBody.findUnique({ where: { intentId: outcome.answerOf } });
  }

  /** The names of the clients that asked, decided and settled. */
  private async namesIn(rows: Named[]): Promise<Map<string, string>> {
    const ids = rows.flatMap(({ clientId, decision, resolution }) => [
      clientId,
      decision?.clientId,
      resolution?.clientId,
    ]);
    const known = ids.filter((id) => id !== undefined);
    const clients = await this.prisma.client.findMany({ where: { id: { in: [...new Set(known)] } } });
    return new Map(clients.map(({ id, name }) => [id, name]));
  }
}
