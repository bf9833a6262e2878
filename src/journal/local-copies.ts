import { Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { clock } from '../platform/database/clock';
import { Loaded } from '../platform/config/config.module';
import { PrismaService } from '../platform/database/prisma.service';
import { AdmissionRequest } from '../policy/admission';
import { IntentRow } from './intents';

/** A committed record, as a line of a copy. It names nobody: records hold salted commitments, and the salts stay behind. */
export type CopiedLine =
  | {
      kind: 'intent';
      record: string;
      /** Hex. Null without an Idempotency-Key. */
      claim: { salt: string; hash: string | null } | null;
      /** Hex. */
      contents: string[];
    }
  | { kind: 'outcome'; record: string }
  | { kind: 'approval'; intent_id: string; reserved_on: string | null };

const EVERY_MS = 1_000;

/** A day of copies is kept longer than any backup that one would go back to after a failure. */
const KEPT_DAYS = 8;

const DAY_MS = 86_400_000;

/** While the disk takes nothing, the oldest lines are dropped beyond this many characters. */
const MOST_WAITING = 64 * 1_024 * 1_024;

/** The name of a file is the day (UTC, by the database's clock) on which its lines were written. */
export const COPY_FILE = /^\d{4}-\d\d-\d\d\.jsonl$/;

export const copiesFolder = (dataDir: string) => join(dataDir, 'copies');

/**
 * Copies what was committed about payments and writes to DATA_DIR/copies, a second later at most. If the database comes
 * back from the past, `database recover` restores from the copies the calls that it lacks, so that their keys are taken
 * and their amounts counted.
 */
@Injectable()
export class LocalCopies implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Journal');
  private readonly folder: string;
  private waiting: string[] = [];
  private waitingLength = 0;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  private isFailing = false;
  private prunedOn = '';

  constructor(
    private readonly prisma: PrismaService,
    config: ConfigService<Loaded, true>,
  ) {
    this.folder = copiesFolder(config.get('settings', { infer: true }).dataDir);
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.flush(), EVERY_MS).unref();
  }

  /** Runs after the last outcome was recorded. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.writing;
    await this.flush();
  }

  addIntent({ intent, written }: IntentRow): void {
    const { claim } = intent;
    this.add({
      kind: 'intent',
      record: written.record,
      claim: claim ? { salt: claim.salt.toString('hex'), hash: claim.contentHash?.toString('hex') ?? null } : null,
      contents: (intent.contents ?? []).map((content) => content.toString('hex')),
    });
  }

  /** Copies a call that a retry found in the database. Its first attempt was reported as failed, and left no copy. */
  async copyIntent({ id, clientId, operation, idempotencyKey }: AdmissionRequest): Promise<void> {
    const [row] = await this.prisma.$queryRaw<{ record: string; claim: string | null; contents: string[] }[]>`
      SELECT record, (
          SELECT json_build_object('salt', encode(salt, 'hex'), 'hash', encode(content_hash, 'hex'))::text FROM idempotency_claim
          WHERE client_id = ${clientId}::uuid AND operation = ${operation} AND key = ${idempotencyKey}) AS claim,
        ARRAY(SELECT encode(content, 'hex') FROM recent_content WHERE intent_id = intent.id) AS contents
      FROM intent WHERE id = ${id}::uuid`;
    if (!row) return;
    const claim = row.claim === null ? null : (JSON.parse(row.claim) as { salt: string; hash: string | null });
    this.add({ kind: 'intent', record: row.record, claim, contents: row.contents });
  }

  addOutcome(record: string): void {
    this.add({ kind: 'outcome', record });
  }

  addApproval(intentId: string, reservedOn: string | null): void {
    this.add({ kind: 'approval', intent_id: intentId, reserved_on: reservedOn });
  }

  private add(line: CopiedLine): void {
    const text = JSON.stringify(line);
    this.waiting.push(text);
    this.waitingLength += text.length;
    while (this.waitingLength > MOST_WAITING) this.waitingLength -= this.waiting.shift()?.length ?? 0;
  }

  /** Writes what waits. Never rejects: what could not be written is tried again. */
  private flush(): Promise<void> {
    if (this.waiting.length === 0) return Promise.resolve();
    this.writing ??= this.write().finally(() => (this.writing = undefined));
    return this.writing;
  }

  private async write(): Promise<void> {
    const lines = this.waiting;
    this.waiting = [];
    this.waitingLength = 0;
    const day = clock.today();
    try {
      await append(this.folder, `${day}.jsonl`, `${lines.join('\n')}\n`);
      if (day !== this.prunedOn) await this.prune(day);
      if (this.isFailing) this.logger.log('committed records are copied again');
      this.isFailing = false;
    } catch (error) {
      this.waiting = [...lines, ...this.waiting];
      this.waitingLength += lines.reduce((sum, { length }) => sum + length, 0);
      const { code } = error as { code?: string };
      if (!this.isFailing) this.logger.warn({ code }, 'committed records cannot be copied to DATA_DIR, will retry');
      this.isFailing = true;
    }
  }

  private async prune(day: string): Promise<void> {
    this.prunedOn = day;
    const oldest = `${new Date(Date.parse(day) - KEPT_DAYS * DAY_MS).toISOString().slice(0, 10)}.jsonl`;
    const names = (await readdir(this.folder)).filter((name) => COPY_FILE.test(name));
    for (const name of names.filter((one) => one < oldest)) await rm(join(this.folder, name), { force: true });
  }
}

/** Appends text to a file that only its owner may read. Resolves once it is on disk. */
async function append(folder: string, name: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await open(join(folder, name), 'a', 0o600);
  try {
    await file.appendFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
}
