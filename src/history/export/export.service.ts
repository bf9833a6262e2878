import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Call, mayReveal } from '../../access/auth/call';
import { StandingService } from '../../access/auth/standing.service';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { Problem } from '../../platform/errors/problem';
import { AccessJournal } from '../../journal/access-journal';
import { Query } from '../search/pages';
import { PresentService } from '../records/present.service';
import { ReadingsService } from '../access-log/readings.service';
import { SearchService } from '../search/search.service';
import { prefetch } from './prefetch';
import { CheckpointsService } from './checkpoints.service';
import { ExportSearch, Format } from './export.dto';
import { readRows, ExportRow } from './export-rows';
import { heading, rowsText } from './format';
import { waitAtMost } from '../../platform/database/patience';

/** Each export holds a database connection most of the time, and payouts need connections too. */
const MAX_EXPORTS = 4;

/** Leaves room for exports of other keys. */
const MAX_EXPORTS_OF_KEY = 2;

/**
 * Large enough that a batch costs little more than its rows. Small enough that payouts wait a few milliseconds at most.
 */
const BATCH_ROWS = 250;

/** Small enough that each chunk is freed as soon as it is written. */
const CHUNK_ROWS = 100;

/** Limit of buffered bytes for a slow reader, besides the current and the next batch. */
const BUFFERED_BYTES = 64 * 1_024;

/** Time limit for counting the rows, which only a progress bar needs. */
const COUNT_MS = 300;

export interface Exporting {
  stream: Readable;
  /** The number of rows, if it could be counted in time. */
  total: number | undefined;
}

/** Streams the results of a search, oldest first, in constant memory. */
@Injectable()
export class ExportService implements OnModuleDestroy {
  private readonly logger = new Logger('Export');
  /** The running exports, each with the ID of its key. */
  private readonly running = new Map<Readable, string>();

  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly searching: SearchService,
    private readonly present: PresentService,
    private readonly checkpoints: CheckpointsService,
    private readonly readings: ReadingsService,
    private readonly accesses: AccessJournal,
    private readonly standing: StandingService,
  ) {}

  /** Resolves once the export is on record. Reads nothing before somebody reads the stream. */
  async begin(request: FastifyRequest, { format, what = 'calls', ...filters }: ExportSearch): Promise<Exporting> {
    const query = await this.searching.open(filters, what);
    const keyId = request.call.caller?.keyId ?? '';
    if (this.running.size >= MAX_EXPORTS) throw new Problem('too_many_exports');
    if ([...this.running.values()].filter((one) => one === keyId).length >= MAX_EXPORTS_OF_KEY) {
      throw new Problem('too_many_streams');
    }
    const state = { recorded: false, read: false };
    const stream = Readable.from(this.bytes(request, format, query, state), {
      objectMode: false,
      highWaterMark: BUFFERED_BYTES,
    });
    this.running.set(stream, keyId);
    stream.once('close', () => {
      this.running.delete(stream);
      // A generator that ends before it has started runs no code, not even its `finally`.
      if (state.recorded && !state.read) void this.endBroken(request.call.id, 0);
    });
    stream.on('error', () => undefined); // the reader gets this error, and its origin logs it
    try {
      await this.readings.record(request, { rows: null, people: true });
      state.recorded = true;
      return { stream, total: await this.total(query) };
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }

  /** Interrupts running exports, which their readers notice. A stop does not wait for the longest of them. */
  async onModuleDestroy(): Promise<void> {
    const closed = (stream: Readable) =>
      new Promise((resolve) => stream.once('close', resolve).destroy(new Error('the proxy is shutting down')));
    await Promise.all([...this.running.keys()].map(closed));
  }

  private async total(query: Query): Promise<number | undefined> {
    const count = this.searching.count(query).catch(() => undefined);
    return waitAtMost(count, COUNT_MS);
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
          yield bytes;
        }
      }
      const checkpointSize = await this.checkpoints.covering(accessId);
      // The manifest is built from this record, so it is written before the reader sees the end of the file.
      await this.accesses.end({ accessId, complete: true, rows, sha256: hash.digest(), checkpointSize });
      complete = true;
    } catch (error) {
      this.logger.warn({ call_id: accessId, rows, err: error }, 'export interrupted');
      throw error;
    } finally {
      if (!complete) await this.endBroken(accessId, rows);
    }
  }

  private async *batches(query: Query, call: Call): AsyncGenerator<ExportRow[], void> {
    const reveal = mayReveal(call);
    const holds = this.standing.watch(call);
    for await (const places of this.searching.walk(query, { batch: BATCH_ROWS })) {
      if (!(await holds())) throw new Error('the key of an export is no longer valid');
      // The time is read before the records, as for a page.
      yield await readRows(this.prisma, query.listed, places, reveal, await this.present.readLong());
    }
  }

  /**
   * Records that an export was interrupted. An export without such a record was interrupted by the end of its process.
   */
  private async endBroken(accessId: string, rows: number): Promise<void> {
    try {
      await this.accesses.end({ accessId, complete: false, rows, sha256: null, checkpointSize: null });
    } catch {
      this.logger.warn({ call_id: accessId, rows }, 'interrupted export not recorded');
    }
  }
}
