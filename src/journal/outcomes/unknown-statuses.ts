import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { plainWord, StatusVocabulary } from '../../operations/lifecycle/statuses';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { proseAsRecorded } from '../../platform/privacy/recorded';

/** Most words. Above any real mapping. Keeps a faulty upstream from filling the database. */
export const MOST_WORDS = 200;

/** Longest word. A longer text is a sentence. */
const MOST_LENGTH = 60;

/** The count of a word, and one place that has it. */
interface Sight {
  times: number;
  callId: string | null;
  upstreamRef: string | null;
}

/**
 * Lists unmapped status words of the upstream (src/operations/lifecycle/statuses.ts) for an operator to map.
 * A known word costs no query. Writes are in the background.
 */
@Injectable()
export class UnknownStatuses implements OnApplicationShutdown {
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
   * @param callId the call whose answer named it. Null without one.
   * @param times the number of transactions with the word.
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

  /** Waits for pending writes. */
  async onApplicationShutdown(): Promise<void> {
    await this.writing;
  }

  private async writeAll(): Promise<void> {
    try {
      await new Promise(setImmediate); // One write for the words of an answer.
      while (this.met.size > 0) {
        // Sorted against deadlocks.
        const sights = [...this.met].sort(([one], [other]) => (one < other ? -1 : 1));
        this.met.clear();
        await this.write(sights);
      }
    } catch (err) {
      this.met.clear(); // Later transactions with these words are noted again.
      this.logger.warn({ err }, 'status words not recorded, will retry');
    }
    this.writing = undefined;
  }

  private async write(sights: [string, Sight][]): Promise<void> {
    const written = await this.prisma.$queryRaw<{ isNew: boolean; callId: string | null }[]>`
      INSERT INTO unheard_status AS known (word, times, call_id, upstream_ref)
      SELECT word, times, call_id, upstream_ref
      FROM unnest(${sights.map(([word]) => word)}::text[], ${sights.map(([, { times }]) => times)}::bigint[],
        ${sights.map(([, { callId }]) => callId)}::uuid[],
        ${sights.map(([, { upstreamRef }]) => proseAsRecorded(upstreamRef))}::text[])
        AS met(word, times, call_id, upstream_ref)
      WHERE (SELECT count(*) FROM unheard_status) < ${MOST_WORDS}
        OR EXISTS (SELECT FROM unheard_status u WHERE u.word = met.word)
      ORDER BY word
      ON CONFLICT (word) DO UPDATE SET times = known.times + excluded.times, last_seen_at = clock_timestamp(),
        call_id = coalesce(known.call_id, excluded.call_id),
        upstream_ref = coalesce(known.upstream_ref, excluded.upstream_ref)
      RETURNING xmax = 0 AS "isNew", call_id AS "callId"`;
    for (const { isNew, callId } of written) {
      if (isNew) this.logger.warn({ call_id: callId }, 'unknown upstream status word');
    }
  }
}
