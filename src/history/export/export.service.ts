import { Injectable, Logger, OnModuleDestroy } from '@nestjs/common';
import { FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Call, mayReveal } from '../../access/auth/call';
import { StandingService } from '../../access/auth/standing.service';
import { ReaderPrisma } from '../../platform/database/reader-prisma';
import { Problem } from '../../platform/errors/problem';
import { AccessJournal } from '../../journal/accesses';
import { Query } from '../search/pages';
import { PresentService } from '../records/present.service';
import { ReadingsService } from '../access-log/readings.service';
import { SearchService } from '../search/search.service';
import { prefetch } from './prefetch';
import { CheckpointsService } from './checkpoints.service';
import { ExportSearch, Format } from './export.dto';
import { readRows, ExportRow } from './export-rows';
import { heading, rowsText } from './format';

/** Each holds a database connection most of the time, and the payouts need some too. */
const MAX_EXPORTS = 4;

/** So that one key leaves places for others. */
const MAX_EXPORTS_OF_KEY = 2;

/** Large enough that a batch costs little more than its rows, small enough that payouts wait some milliseconds at most. */
const BATCH_ROWS = 250;

/** What is written at once: small enough to be cleared away as soon as it is written. */
const CHUNK_ROWS = 100;

/** Bytes that wait for a slow reader, beside the batch that is being written and the one behind it. */
const BUFFERED_BYTES = 64 * 1_024;

/** How long the beginning waits for the number of rows, which only a progress bar needs. */
const COUNT_MS = 300;

export interface Exporting {
  stream: Readable;
  /** How many rows there will be, if that could be found out at once. */
  total: number | undefined;
}

/** Streams what a search finds, oldest first, in constant memory. */
@Injectable()
export class ExportService implements OnModuleDestroy {
  private readonly logger = new Logger('Export');
  /** Each with the id of its key. */
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

  /** Resolves once the export is on record; nothing is read before somebody reads the stream. */
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
      // Nothing of a generator runs that was ended before it began, its `finally` neither.
      if (state.recorded && !state.read) void this.endBroken(request.call.id, 0);
    });
    stream.on('error', () => undefined); // its reader hears it, and it is logged where it arose
    try {
      await this.readings.record(request, { rows: null, people: true });
      state.recorded = true;
      return { stream, total: await this.total(query) };
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }

  /** Whoever reads a broken export sees that it is: better than a stop that takes as long as the longest of them. */
  async onModuleDestroy(): Promise<void> {
    const closed = (stream: Readable) =>
      new Promise((resolve) => stream.once('close', resolve).destroy(new Error('the proxy stops')));
    await Promise.all([...this.running.keys()].map(closed));
  }

  private async total(query: Query): Promise<number | undefined> {
    const count = this.searching.count(query).catch(() => undefined);
    return Promise.race([count, sleep(COUNT_MS, undefined)]);
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
          const bytes = hashed(rowsText(format, part));
          rows += part.length;
          yield bytes;
        }
      }
      const checkpointSize = await this.checkpoints.covering(accessId);
      // The manifest follows from this record: it is there before the reader sees the end of the file.
      await this.accesses.end({ accessId, complete: true, rows, sha256: hash.digest(), checkpointSize });
      complete = true;
    } catch (error) {
      this.logger.warn({ call_id: accessId, rows, err: error }, 'an export broke off');
      throw error;
    } finally {
      if (!complete) await this.endBroken(accessId, rows);
    }
  }

  private async *batches(query: Query, call: Call): AsyncGenerator<ExportRow[], void> {
    const reveal = mayReveal(call);
    const holds = this.standing.watch(call);
    for await (const places of this.searching.walk(query, { batch: BATCH_ROWS })) {
      if (!(await holds())) throw new Error('the key of an export no longer holds');
      // Asked before the records are read, as for a page.
      yield await readRows(this.prisma, query.listed, places, reveal, await this.present.readLong());
    }
  }

  /** One that is not on record as ended was cut off too. */
  private async endBroken(accessId: string, rows: number): Promise<void> {
    try {
      await this.accesses.end({ accessId, complete: false, rows, sha256: null, checkpointSize: null });
    } catch {
      this.logger.warn({ call_id: accessId, rows }, 'that an export broke off could not be recorded');
    }
  }
}
