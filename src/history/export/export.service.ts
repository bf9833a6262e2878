import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { FastifyRequest } from 'fastify';
import { Call, mayReveal } from '../../access/auth/call';
import { CredentialRecheckService } from '../../access/auth/credential-recheck.service';
import { QuotasService } from '../../http/quotas/quotas.service';
import { AccessJournal } from '../../journal/activity/access-journal';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { ReplicaService } from '../../platform/database/pools/replica.service';
import { waitAtMost } from '../../platform/database/pools/timeouts';
import { ReadingsService } from '../access-log/accesses.service';
import { PayoutPosition, PresentService } from '../records/records.service';
import { Query } from '../search/pages';
import { SearchService } from '../search/search.service';
import { readRows, ExportRow, heading, rowsText } from './export-rows';
import { ExportSearch, Format } from './export.dto';

/** Rows per batch: enough for a small overhead, and few enough to delay payouts by milliseconds at most. */
const BATCH_ROWS = 250;

/** Rows per chunk, which is freed once it is written. */
const CHUNK_ROWS = 100;

/** Maximum length of a piece of a chunk, and of the buffer for a slow reader after two batches, in bytes. */
const PIECE_BYTES = 65_536;

/** Time limit in ms for the count of rows, which only a progress bar needs. */
const COUNT_MS = 300;

/** Maximum wait of an export for its last checkpoint, in ms. Records are sealed within seconds. */
const CHECKPOINT_WAIT_MS = 3_000;
const CHECKPOINT_POLL_MS = 100;

interface StartedExport {
  stream: Readable;
  /** Number of rows. Undefined if the count took too long. */
  total: number | undefined;
}

/** Streams the results of a search, oldest first, in constant memory. */
@Injectable()
export class ExportService implements OnModuleDestroy {
  private readonly logger = new Logger('Export');
  private readonly running = new Set<Readable>();

  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly replica: ReplicaService,
    private readonly searching: SearchService,
    private readonly present: PresentService,
    private readonly readings: ReadingsService,
    private readonly accesses: AccessJournal,
    private readonly rechecks: CredentialRecheckService,
    private readonly quotas: QuotasService,
  ) {}

  /** Begins an export. Resolves once it is on record. Reads nothing before the stream is read. */
  async begin(
    request: FastifyRequest,
    { format, what = 'calls', ...filters }: ExportSearch,
  ): Promise<StartedExport> {
    const release = this.quotas.take('exports', keyOf(request.call));
    const query = await this.searching.open(filters, what).catch((error: unknown) => {
      release();
      throw error;
    });
    const state = { recorded: false, read: false };
    const stream = Readable.from(this.bytes(request, format, query, state), {
      objectMode: false,
      highWaterMark: PIECE_BYTES,
    });
    this.running.add(stream);
    stream.once('close', () => {
      this.running.delete(stream);
      release();
      // A generator that ends before its start runs no code, not even its `finally`.
      if (state.recorded && !state.read) void this.recordInterruption(request.call.id, 0);
    });
    stream.on('error', () => undefined); // The reader gets this error, and its origin logs it.
    try {
      await this.readings.record(request, { rows: null, people: true });
      state.recorded = true;
      return { stream, total: await this.total(query) };
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }

  /** Interrupts running exports, which their readers notice. A shutdown does not wait for the longest one. */
  async onModuleDestroy(): Promise<void> {
    const closed = (stream: Readable) =>
      new Promise((resolve) =>
        stream.once('close', resolve).destroy(new Error('the proxy is shutting down')),
      );
    await Promise.all([...this.running].map(closed));
  }

  private async total(query: Query): Promise<number | undefined> {
    const count = this.searching.count(query, AbortSignal.timeout(COUNT_MS)).catch(() => undefined);
    return waitAtMost(count, COUNT_MS); // It may wait for a connection.
  }

  private async *bytes(
    request: FastifyRequest,
    format: Format,
    query: Query,
    state: { read: boolean },
  ): AsyncGenerator<Buffer, void> {
    state.read = true;
    const { id: accessId } = request.call;
    const hash = createHash('sha256');
    const hashed = (text: string) => {
      const bytes = Buffer.from(text);
      hash.update(bytes);
      return bytes;
    };
    let rows = 0;
    let complete = false;
    try {
      if (format === 'csv') yield hashed(heading(format, query.listed));
      for await (const batch of prefetch(this.batches(query, request.call))) {
        for (let from = 0; from < batch.length; from += CHUNK_ROWS) {
          const part = batch.slice(from, from + CHUNK_ROWS);
          const bytes = hashed(rowsText(format, query.listed, part));
          rows += part.length;
          for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
        }
      }
      const checkpointSize = await this.covering(accessId);
      // Write this record before the reader sees the end of the file: the manifest is built from it.
      await this.accesses.end({ accessId, complete: true, rows, sha256: hash.digest(), checkpointSize });
      complete = true;
    } catch (error) {
      this.logger.warn({ call_id: accessId, rows, err: error }, 'export interrupted');
      throw error;
    } finally {
      if (!complete) await this.recordInterruption(accessId, rows);
    }
  }

  /**
   * Returns the size of the latest checkpoint. Waits a moment for a checkpoint that covers all records before
   * an access. Null if nothing was ever sealed.
   */
  async covering(accessId: string): Promise<number | null> {
    const until = performance.now() + CHECKPOINT_WAIT_MS;
    for (;;) {
      const [latest] = await this.prisma.$queryRaw<{ size: bigint; covers: boolean }[]>`
        SELECT c.size, (c.complete_until >= a.read_at) IS TRUE AS covers
        FROM checkpoint c LEFT JOIN access a ON a.id = ${accessId}::uuid ORDER BY c.size DESC LIMIT 1`;
      if (!latest) return null;
      if (latest.covers || performance.now() > until) return Number(latest.size);
      await sleep(CHECKPOINT_POLL_MS);
    }
  }

  private async *batches(query: Query, call: Call): AsyncGenerator<ExportRow[], void> {
    const holds = this.rechecks.watch(call);
    const walk: AsyncGenerator<PayoutPosition[], void> = this.searching.walk(query, { batch: BATCH_ROWS });
    for (;;) {
      if (!(await holds())) throw new Error('the key of an export is no longer valid');
      const rows = await this.nextRows(walk, query, call);
      if (!rows) return;
      yield rows;
    }
  }

  /** Reads a batch when it is the key's turn. */
  private async nextRows(
    walk: AsyncGenerator<PayoutPosition[], void>,
    query: Query,
    call: Call,
  ): Promise<ExportRow[] | undefined> {
    const endTurn = await this.quotas.turn('exports', keyOf(call));
    try {
      const { value: places } = await walk.next();
      if (!places) return undefined;
      // Read the time before the records, as for a page.
      const present = await this.present.readLong();
      return await this.replica.read((reader) =>
        readRows(reader, query.listed, places, mayReveal(call), present),
      );
    } finally {
      endTurn();
    }
  }

  /** Records an interruption. The end of the process interrupted exports without an end on record. */
  private async recordInterruption(accessId: string, rows: number): Promise<void> {
    try {
      await this.accesses.end({ accessId, complete: false, rows, sha256: null, checkpointSize: null });
    } catch {
      this.logger.warn({ call_id: accessId, rows }, 'interrupted export not recorded');
    }
  }
}

const keyOf = ({ caller }: Call): string => caller?.keyId ?? '';

/** Fetches one element ahead. A slow read runs while the previous element is processed. */
async function* prefetch<Element>(source: AsyncGenerator<Element, void>): AsyncGenerator<Element, void> {
  try {
    let next = source.next();
    for (;;) {
      const { value, done } = await next;
      if (done) return;
      next = source.next();
      next.catch(() => undefined); // The consumer gets this error with the element.
      yield value;
    }
  } finally {
    await source.return();
  }
}
