import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Inject, Injectable, Logger, OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { isEndUser } from '../../access/people/person';
import { WaitingCopies } from '../../continuity/spool/waiting-copies';
import { MetricsService } from '../../http/metrics/metrics.service';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { clock } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { codeOf } from '../../platform/errors/error-code';
import { AdmissionRequest } from '../../policy/admission';
import { CopiedPayment, toRow } from '../admission/recipients';
import { IntentDocument, OutcomeDocument } from '../records/documents';
import { IntentRow } from '../records/intents';
import { claimKey } from '../records/records';

/**
 * A committed record as a line of a copy. Its idempotency key is its only text of a caller: records hold
 * salted commitments without their salts, and contents and recipients are unsalted hashes. It is private.
 */
export type CopiedLine =
  | {
      kind: 'intent';
      record: IntentDocument;
      /** Null without an Idempotency-Key. */
      claim: { key: string; salt: string; hash: string | null } | null;
      /** Hex. */
      contents: string[];
      /** Payments that limits of its client may count later. */
      payments?: CopiedPayment[];
      /** SHA-256 of its requester. Restores the spending of the person. */
      person?: string;
    }
  | { kind: 'outcome'; record: OutcomeDocument }
  | { kind: 'approval'; intent_id: string; reserved_on: string | null };

export type IntentLine = Extract<CopiedLine, { kind: 'intent' }>;

/** Returns the idempotency key of a copied call, as in its claim. Null without a key. */
export function claimedKeyOf({ record, claim }: IntentLine): string | null {
  const { actor_source: source, person_id: personId = null } = record;
  return claim && claimKey(isEndUser({ source }) ? personId : null, claim.key);
}

/** A stored intent, as texts. */
interface FoundIntent {
  record: string;
  claim: string | null;
  contents: string[];
  payments: string;
  person: string | null;
}

const EVERY_MS = 1_000;

/** Days that a copy is kept. Above the age of any backup that a recovery would use. */
const KEPT_DAYS = 8;

const DAY_MS = 86_400_000;

const NEW_LINE = Buffer.from('\n');

const DROPPED =
  'copies of committed records are dropped, because DATA_DIR takes no more of them or is too slow. ' +
  'database recover cannot restore these records';

/** The name of a file is the day (UTC, by the database's clock) on which its lines were written. */
export const COPY_FILE = /^\d{4}-\d\d-\d\d\.jsonl$/;

export const copiesFolder = (dataDir: string) => join(dataDir, 'copies');

/**
 * Copies committed payments and writes to DATA_DIR/copies within a second. If the database is restored from
 * the past, `database recover` restores its missing calls from the copies. Their keys are then taken and
 * their amounts counted.
 */
@Injectable()
export class LocalCopies implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Journal');
  private readonly folder: string;
  private readonly waiting = new WaitingCopies((lines) => this.tellOfDropped(lines));
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  private isFailing = false;
  /** Whether the file may end in a partial line, after a failed write or a killed process. */
  private isTorn = true;
  /** Lines dropped since the buffer was last empty. */
  private dropped = 0;
  private prunedOn = '';

  constructor(
    private readonly prisma: PrismaService,
    private readonly metrics: MetricsService,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    this.folder = copiesFolder(settings.dataDir);
    metrics.watch(
      'payout_proxy_copies_waiting_bytes',
      'Copies of committed records that DATA_DIR has not taken yet. Past 64 MiB, the oldest are dropped.',
      () => this.waiting.bytes,
    );
  }

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => void this.flush(), EVERY_MS).unref();
  }

  /** Writes the buffered lines. The writers of late outcomes call it again afterwards. */
  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.writing;
    await this.flush();
  }

  addIntent({ intent, written }: IntentRow): void {
    const { key } = intent;
    this.addIntentLine(
      written.record,
      key
        ? { key: key.text, salt: key.salt.toString('hex'), hash: key.contentHash?.toString('hex') ?? null }
        : null,
      (intent.contents ?? []).map((content) => content.toString('hex')),
      (intent.payments ?? []).map(toRow),
      intent.person?.sha256.toString('hex'),
    );
  }

  /** Copies a call that a retry found in the database. Its failed first attempt left no copy. */
  async copyIntent({ id, clientId, operation }: AdmissionRequest): Promise<void> {
    const [row] = await this.prisma.$queryRaw<FoundIntent[]>`
      SELECT record, (
          SELECT json_build_object('key', b.idempotency_key, 'salt', encode(b.idempotency_key_salt, 'hex'),
            'hash', encode(c.content_hash, 'hex'))::text
          FROM intent_body b CROSS JOIN scoped_key(person_id, record, b.idempotency_key) AS own
          JOIN idempotency_claim c ON c.key IN (own, hashed_key(own))
          WHERE b.intent_id = intent.id AND c.client_id = ${clientId}::uuid
            AND c.operation = ${operation}) AS claim,
        ARRAY(SELECT encode(content, 'hex') FROM recent_content WHERE intent_id = intent.id) AS contents,
        (SELECT coalesce(json_agg(json_build_object('recipient', encode(recipient, 'hex'),
            'position', position, 'usd', usd::text)), '[]')
          FROM recipient_payment WHERE intent_id = intent.id)::text AS payments,
        (SELECT encode(p.sha256, 'hex') FROM person p WHERE p.id = person_id) AS person
      FROM intent WHERE id = ${id}::uuid`;
    if (!row) return;
    this.addIntentLine(
      row.record,
      row.claim === null ? null : (JSON.parse(row.claim) as IntentLine['claim']),
      row.contents,
      JSON.parse(row.payments) as CopiedPayment[],
      row.person ?? undefined,
    );
  }

  /** @param record JSON of an outcome's record. */
  addOutcome(record: string): void {
    this.waiting.add(`{"kind":"outcome","record":${record}}`);
  }

  addApproval(intentId: string, reservedOn: string | null): void {
    const line: CopiedLine = { kind: 'approval', intent_id: intentId, reserved_on: reservedOn };
    this.waiting.add(JSON.stringify(line));
  }

  /** Concatenates JSON, because records are JSON. To parse and write them again costs 5 % of a request. */
  private addIntentLine(
    record: string,
    claim: IntentLine['claim'],
    contents: string[],
    payments: CopiedPayment[],
    person: string | undefined,
  ): void {
    const paid = payments.length > 0 ? `,"payments":${JSON.stringify(payments)}` : '';
    const requester = person === undefined ? '' : `,"person":"${person}"`;
    const hashes = `"claim":${JSON.stringify(claim)},"contents":${JSON.stringify(contents)}`;
    this.waiting.add(`{"kind":"intent","record":${record},${hashes}${paid}${requester}}`);
  }

  /** Writes all buffered lines. Never rejects: failed lines are retried. */
  private flush(): Promise<void> {
    this.writing ??= this.write().finally(() => (this.writing = undefined));
    return this.writing;
  }

  private async write(): Promise<void> {
    try {
      for (let blocks = this.waiting.take(); blocks.length > 0; blocks = this.waiting.take()) {
        const day = clock.today();
        await append(this.folder, `${day}.jsonl`, this.isTorn ? [NEW_LINE, ...blocks] : blocks);
        this.waiting.written();
        this.isTorn = false;
        if (this.waiting.bytes === 0) this.tellOfSuccess();
        if (day !== this.prunedOn) await this.prune(day);
      }
    } catch (error) {
      this.waiting.notWritten();
      this.isTorn = true;
      if (!this.isFailing)
        this.logger.warn(
          { code: codeOf(error) },
          'committed records cannot be copied to DATA_DIR, will retry',
        );
      this.isFailing = true;
    }
  }

  private tellOfSuccess(): void {
    if (this.isFailing || this.dropped > 0)
      this.logger.log({ dropped_lines: this.dropped }, 'committed records are copied again');
    this.isFailing = false;
    this.dropped = 0;
  }

  private tellOfDropped(lines: number): void {
    if (this.dropped === 0) this.logger.error(DROPPED);
    this.dropped += lines;
    this.metrics.droppedCopies.inc(lines);
  }

  private async prune(day: string): Promise<void> {
    this.prunedOn = day;
    const oldest = `${new Date(Date.parse(day) - KEPT_DAYS * DAY_MS).toISOString().slice(0, 10)}.jsonl`;
    const names = (await readdir(this.folder)).filter((name) => COPY_FILE.test(name));
    for (const name of names.filter((one) => one < oldest))
      await rm(join(this.folder, name), { force: true });
  }
}

/** Appends to a file that is readable by its owner only. Resolves once the bytes are on disk. */
async function append(folder: string, name: string, parts: Buffer[]): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = await open(join(folder, name), 'a', 0o600);
  try {
    for (const part of parts) await file.appendFile(part);
    await file.datasync();
  } finally {
    await file.close();
  }
}
