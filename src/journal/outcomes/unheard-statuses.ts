import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { plainWord, StatusVocabulary } from '../../operations/lifecycle/statuses';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { proseAsRecorded } from '../../platform/privacy/recorded';
import { RunningConfig, SETTINGS } from '../../platform/config/config';

/** The most words. Nobody maps more, and a faulty upstream must not fill the database. */
export const MOST_WORDS = 200;

/** The longest word. A longer text is a sentence. */
const MOST_LENGTH = 60;

/** How often a word was met, and one place where it is found. */
interface Sight {
  times: number;
  callId: string | null;
  upstreamRef: string | null;
}

/**
 * Lists the status words of the upstream that have no meaning (src/operations/lifecycle/statuses.ts), so that an operator can map
 * them. A known word costs no query, and nothing waits for one.
 */
@Injectable()
export class UnheardStatuses implements OnApplicationShutdown {
  private readonly logger = new Logger('Statuses');
  private readonly vocabulary: StatusVocabulary;
  private readonly met = new Map<string, Sight>();
  private writing: Promise<void> | undefined;

  constructor(
    private readonly prisma: SidePrisma,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    this.vocabulary = StatusVocabulary.with(settings.upstreamStatusWords);
  }

  /**
   * Notes the word of a transaction. Returns at once.
   * @param callId the call whose answer named it, if one did.
   * @param times how many transactions have the word.
   */
  note(
    { status, upstreamRef }: { status: string | null; upstreamRef: string | null },
    callId: string | null,
    times = 1,
  ): void {
    if (status === null || this.vocabulary.statusOf(status) !== undefined) return;
    const word = proseAsRecorded(plainWord(status)).slice(0, MOST_LENGTH);
    const sight = this.met.get(word);
    if (sight) sight.times += times;
    else if (word !== '' && this.met.size < MOST_WORDS) this.met.set(word, { times, callId, upstreamRef });
    this.writing ??= this.writeAll();
  }

  /** Waits for the words that are being written. */
  async onApplicationShutdown(): Promise<void> {
    await this.writing;
  }

  private async writeAll(): Promise<void> {
    try {
      await new Promise(setImmediate); // The words of one answer are written together.
      while (this.met.size > 0) {
        const sights = [...this.met].sort(([one], [other]) => (one < other ? -1 : 1)); // No two instances deadlock.
        this.met.clear();
        await this.write(sights);
      }
    } catch (err) {
      this.met.clear(); // Their next transactions are noted again.
      this.logger.warn({ err }, 'status words not recorded, will retry');
    }
    this.writing = undefined;
  }

  private async write(sights: [string, Sight][]): Promise<void> {
    const written = await this.prisma.$queryRaw<{ isNew: boolean; callId: string | null }[]>`
      INSERT INTO unheard_status AS known (word, times, call_id, upstream_ref)
      SELECT word, times, call_id, upstream_ref
      FROM unnest(${sights.map(([word]) => word)}::text[], ${sights.map(([, { times }]) => times)}::bigint[],
        ${sights.map(([, { callId }]) => callId)}::uuid[], ${sights.map(([, { upstreamRef }]) => proseAsRecorded(upstreamRef))}::text[])
        AS met(word, times, call_id, upstream_ref)
      WHERE (SELECT count(*) FROM unheard_status) < ${MOST_WORDS} OR EXISTS (SELECT FROM unheard_status u WHERE u.word = met.word)
      ORDER BY word
      ON CONFLICT (word) DO UPDATE SET times = known.times + excluded.times, last_seen_at = clock_timestamp(),
        call_id = coalesce(known.call_id, excluded.call_id), upstream_ref = coalesce(known.upstream_ref, excluded.upstream_ref)
      RETURNING xmax = 0 AS "isNew", call_id AS "callId"`;
    for (const { isNew, callId } of written) {
      if (isNew) this.logger.warn({ call_id: callId }, 'upstream status word is not understood');
    }
  }
}
