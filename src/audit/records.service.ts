import { Injectable } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { Loaded } from '../config/config.module';
import { longestUpstreamTimeout } from '../config/upstream-timeouts';
import { PrismaService } from '../database/prisma.service';
import { inDoubtBefore } from './outcome';
import { CallRecord, FullCallRecord } from './record.dto';
import { fromIntent, fromRefusal, toMessages, View } from './record';

/** Items of one call that a list of calls shows. */
const ITEMS_IN_LISTS = 100;

type Bytes = { body: Uint8Array } | null;

/** Reads what the journal wrote. */
@Injectable()
export class RecordsService {
  private readonly longestTimeoutMs: number;

  constructor(
    private readonly prisma: PrismaService,
    config: ConfigService<Loaded, true>,
  ) {
    this.longestTimeoutMs = longestUpstreamTimeout(config.get('settings', { infer: true }));
  }

  /** In the order of `ids`. */
  async list(ids: string[], reveal: boolean): Promise<CallRecord[]> {
    const where = { id: { in: ids } };
    const items = { include: { recipient: true }, orderBy: { position: 'asc' }, take: ITEMS_IN_LISTS } as const;
    const outcome = { include: { items: { orderBy: { ordinal: 'asc' } } } } as const;
    const [intents, refusals] = await Promise.all([
      this.prisma.intent.findMany({ where, include: { items, outcome } }),
      this.prisma.refusal.findMany({ where }),
    ]);
    const view = await this.view([...intents, ...refusals], reveal);
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
    const where = { id, ...(clientId !== undefined && { clientId }) };
    const refusal = await this.prisma.refusal.findUnique({ where });
    if (refusal) return { ...fromRefusal(refusal, await this.view([refusal], reveal)), request: null, response: null };
    const intent = await this.prisma.intent.findUnique({
      where,
      include: {
        items: { include: { recipient: true }, orderBy: { position: 'asc' } },
        outcome: { include: { items: { orderBy: { ordinal: 'asc' } }, body: true } },
        body: true,
      },
    });
    if (!intent) return undefined;
    const response = await this.responseOf(intent.outcome);
    return { ...fromIntent(intent, await this.view([intent], reveal)), ...toMessages(intent, response, reveal) };
  }

  /** The bytes of an answer are kept with the call that fetched it. */
  private async responseOf(outcome: { answerOf: string | null; body: Bytes } | null): Promise<Bytes> {
    if (!outcome?.answerOf) return outcome?.body ?? null;
    return this.prisma.outcomeBody.findUnique({ where: { intentId: outcome.answerOf } });
  }

  private async view(rows: { clientId: string }[], reveal: boolean): Promise<View> {
    const ids = [...new Set(rows.map(({ clientId }) => clientId))];
    const clients = await this.prisma.client.findMany({ where: { id: { in: ids } } });
    return {
      reveal,
      inDoubtBefore: inDoubtBefore(this.longestTimeoutMs),
      clientNames: new Map(clients.map(({ id, name }) => [id, name])),
    };
  }
}
