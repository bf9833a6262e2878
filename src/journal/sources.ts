import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { PrismaService } from '../platform/database/prisma.service';
import { asRecorded } from '../platform/privacy/recorded';

/** A read of a source that is about to begin. */
export interface NewSourceRead {
  source: 'transactions' | 'batch' | 'transaction' | 'wallets' | 'statement';
  /** The batch_ref or upstream_id to read, or the file name of the statement. */
  subject: string | null;
  /** Keeps only transactions from this instant on. Null keeps all. */
  from: Date | null;
  /** Keeps only transactions before this instant. Null keeps all. */
  to: Date | null;
  /** For a statement: the column of each field. */
  mapping: object | null;
  /** The run, call in doubt, or event that caused the read. */
  causedBy: string | null;
  /** Null if the proxy reads by itself. */
  by: { clientId: string | null; keyId: string | null; actor: string | null } | null;
}

/** How a read of a source ended. */
export interface NewSourceReadEnd {
  readId: string;
  complete: boolean;
  /** A short code if the read is not complete. */
  failure: string | null;
  httpStatus: number | null;
  bytes: number;
  /** The hash of the received bytes. */
  sha256: Buffer | null;
  rows: number;
  kept: number;
  faults: number;
}

/** A number that only this lock uses. Statements end one at a time. */
const STATEMENT_LOCK = 7_070_012;

/** Records which sources were read for comparisons with the history, and the results. */
@Injectable()
export class SourceJournal {
  constructor(private readonly prisma: PrismaService) {}

  /** Resolves once the read is on record. Nothing may be read before. @returns the ID of the read. */
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
   * Ends a complete statement. It ends as incomplete if the same bytes were read with the same mapping before.
   * @returns the ID of the read that counts: this one, or the first.
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
