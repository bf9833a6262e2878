import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { PrismaService } from '../platform/database/prisma.service';
import { asRecorded } from '../platform/privacy/recorded';

/** A look at a source that is about to begin. */
export interface NewSourceRead {
  source: 'transactions' | 'batch' | 'transaction' | 'wallets' | 'statement';
  /** The batch_ref or upstream_id that is asked for, or the statement's file name. */
  subject: string | null;
  /** Only transactions from here … */
  from: Date | null;
  /** … up to here are kept; null: all. */
  to: Date | null;
  /** Of a statement: which column is which field. */
  mapping: object | null;
  /** The run, the call in doubt or the event for whose sake it is asked. */
  causedBy: string | null;
  /** Null: the proxy asks by itself. */
  by: { clientId: string | null; keyId: string | null; actor: string | null } | null;
}

/** How a look at a source ended. */
export interface NewSourceReadEnd {
  readId: string;
  complete: boolean;
  /** A short code, where it is not complete. */
  failure: string | null;
  httpStatus: number | null;
  bytes: number;
  /** Of the bytes as they came. */
  sha256: Buffer | null;
  rows: number;
  kept: number;
  faults: number;
}

/** Of no meaning but to exclude each other: statements that end at the same time. */
const STATEMENT_LOCK = 7_070_012;

/** Records what was asked of the sources that the history is compared with, and how it came. */
@Injectable()
export class SourceJournal {
  constructor(private readonly prisma: PrismaService) {}

  /** Resolves once it is on record: only then may anything be asked. @returns the read's id. */
  async open({ source, subject, from, to, mapping, causedBy, by }: NewSourceRead): Promise<string> {
    const id = uuidv7();
    await this.prisma.$executeRaw`
      INSERT INTO source_read (id, source, subject, from_at, to_at, mapping, caused_by, client_id, key_id, actor)
      VALUES (${id}::uuid, ${source}, ${asRecorded(subject)}, ${from}, ${to}, ${mapping && JSON.stringify(mapping)}::json,
        ${causedBy}::uuid, ${by?.clientId ?? null}::uuid, ${by?.keyId ?? null}::uuid, ${by?.actor ?? null})`;
    return id;
  }

  /** @returns when it ended, by the database's clock. */
  async end(end: NewSourceReadEnd): Promise<Date> {
    return insertEnd(this.prisma, end);
  }

  /**
   * Ends a statement that was read whole; as incomplete if the same bytes were read with the same mapping before.
   * @returns the id of the read that counts: this one, or the first.
   */
  async endStatement(end: NewSourceReadEnd & { sha256: Buffer }, mapping: object): Promise<string> {
    return this.prisma.$transaction(async (transaction) => {
      await transaction.$executeRaw`SELECT pg_advisory_xact_lock(${STATEMENT_LOCK}::bigint)`;
      const [first] = await transaction.$queryRaw<{ id: string }[]>`
        SELECT r.id FROM source_read_end e JOIN source_read r ON r.id = e.read_id
        WHERE e.sha256 = ${end.sha256} AND e.complete AND r.source = 'statement'
          AND r.mapping::text = ${JSON.stringify(mapping)} LIMIT 1`;
      await insertEnd(transaction, first ? { ...end, complete: false, failure: 'already_imported' } : end);
      return first?.id ?? end.readId;
    });
  }
}

async function insertEnd(
  prisma: Pick<PrismaService, '$queryRaw'>,
  { readId, complete, failure, httpStatus, bytes, sha256, rows, kept, faults }: NewSourceReadEnd,
): Promise<Date> {
  const [row] = await prisma.$queryRaw<[{ endedAt: Date }]>`
    INSERT INTO source_read_end (read_id, complete, failure, http_status, bytes, sha256, rows, kept, faults)
    VALUES (${readId}::uuid, ${complete}, ${failure}, ${httpStatus}, ${bytes}, ${sha256}, ${rows}, ${kept}, ${faults})
    RETURNING ended_at AS "endedAt"`;
  return row.endedAt;
}
