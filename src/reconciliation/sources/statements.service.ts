import { Readable } from 'node:stream';
import { Inject, Injectable } from '@nestjs/common';
import { Author } from '../../access/auth/call';
import { ReconciliationMetrics } from '../../http/metrics/reconciliation-metrics';
import { accountFaults } from '../../http/validation/rules/query-rules';
import { MOST_WORDS, UnknownStatuses } from '../../journal/outcomes/unknown-statuses';
import { insertStatementEnd, NewSourceReadEnd } from '../../journal/reconciliation/reconciliations';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { accountNames, MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { SidePrisma } from '../../platform/database/pools/side-prisma';
import { isUuid } from '../../platform/database/uuid';
import { Problem } from '../../platform/errors/problem';
import { idBefore, Page, rowsToRead, toPage } from '../../platform/schema/page';
import { Mapping, MappingError, readMapping, withoutPeople } from './mapping';
import { recordRead } from './source-read';
import { MAX_FAULTS, StatementImport } from './statement-import';
import { BrokenStatement } from './statement-lines';
import {
  DELIMITERS,
  ImportedStatement,
  StatementQuery,
  StatementRecord,
  StatementSearch,
  StatementWithFaults,
} from './statements.dto';

/** The importer of a statement. */
interface Importer extends Author {
  /** Whether the key may see people. Otherwise columns that identify recipients are skipped. */
  seesPeople: boolean;
}

/** Faults in the first response. A second request returns the others. */
const FIRST_FAULTS = 100;

/** An imported statement, and whether its recipients are compared. */
interface ImportResult {
  statement: ImportedStatement;
  readsPeople: boolean;
}

/** Imports and lists statements: a provider's CSV files of transactions. */
@Injectable()
export class StatementsService {
  constructor(
    private readonly prisma: SidePrisma,
    private readonly metrics: ReconciliationMetrics,
    private readonly statuses: UnknownStatuses,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  /**
   * Reads a statement as it arrives. A broken or unreadable statement leaves a reading that is ignored.
   * @throws Problem `invalid_request`
   */
  async import(
    source: Readable,
    query: StatementQuery,
    { seesPeople, ...by }: Importer,
  ): Promise<ImportResult> {
    const mapping = mappingOf(query.mapping, seesPeople);
    const {
      account = MAIN_ACCOUNT,
      delimiter = 'comma',
      decimal_comma: decimalComma = 'false',
      file = null,
    } = query;
    const faults = accountFaults(account, accountNames(this.settings));
    if (faults.length > 0) throw new Problem('invalid_request', { faults });
    const isComma = decimalComma === 'true';
    const recorded = { columns: mapping.columns, delimiter, decimal_comma: isComma };
    const origin = { source: 'statement', subject: file, from: null, to: null, causedBy: null } as const;
    const request = { account, ...origin, mapping: recorded, by };
    const options = { mapping, delimiter: DELIMITERS[delimiter] ?? ',', decimalComma: isComma };
    let importedId = '';
    const finish = async (end: NewSourceReadEnd) => {
      importedId = await insertStatementEnd(this.prisma, end, { account, mapping: recorded });
      return importedId === end.readId ? undefined : 'already_imported';
    };
    const read = (id: string) => new StatementImport(this.prisma, id, source, options).run();
    const recorder = { prisma: this.prisma, metrics: this.metrics };
    const { readId, ignored, readsPeople } = await recordRead(recorder, request, read, finish).catch(
      (error: unknown) => {
        throw toProblem(error);
      },
    );
    const first = importedId === readId;
    if (first) await this.noteStatuses(readId);
    const statement = await this.one(importedId, FIRST_FAULTS);
    return { statement: { ...statement, ignored_fields: ignored, already_imported: !first }, readsPeople };
  }

  /** Lists complete statements, newest first. */
  async list(search: StatementSearch): Promise<Page<StatementRecord>> {
    const before = idBefore(search);
    const rows = await this.rows(
      Prisma.sql`${before === undefined ? Prisma.empty : Prisma.sql`AND r.id < ${before}::uuid`}
        ORDER BY r.id DESC LIMIT ${rowsToRead(search)}`,
    );
    const { rows: shown, nextPageToken } = toPage(rows, search);
    return { rows: shown.map(withoutId), nextPageToken };
  }

  /**
   * Reads a statement.
   * @param faults maximum number of returned faults.
   * @throws Problem `statement_not_found`
   */
  async one(id: string, faults = MAX_FAULTS): Promise<StatementWithFaults> {
    const [found] = isUuid(id) ? await this.rows(Prisma.sql`AND r.id = ${id}::uuid`) : [];
    if (!found) throw new Problem('statement_not_found');
    const listed = await this.prisma.$queryRaw<StatementWithFaults['faults']>`
      SELECT line::float8, reason FROM statement_fault
      WHERE read_id = ${id}::uuid ORDER BY statement_fault.line LIMIT ${faults}`;
    return { ...withoutId(found), faults: listed };
  }

  /** Lists the statement's unknown status words. A broken statement may have sentences in their place. */
  private async noteStatuses(readId: string): Promise<void> {
    type Word = { status: string; upstreamRef: string | null; times: number };
    const words = await this.prisma.$queryRaw<Word[]>`
      SELECT status, min(upstream_ref) AS "upstreamRef", count(*)::float8 AS times
      FROM upstream_transaction WHERE read_id = ${readId}::uuid AND status IS NOT NULL
      GROUP BY status ORDER BY times DESC LIMIT ${MOST_WORDS}`;
    for (const { times, ...word } of words) this.statuses.note(word, null, times);
  }

  private rows(rest: Prisma.Sql): Promise<(StatementRecord & { id: string })[]> {
    return this.prisma.$queryRaw`
      SELECT r.id, r.id AS read_id, coalesce(r.account, ${MAIN_ACCOUNT}) AS account, r.subject AS file,
        r.mapping, r.read_at AS imported_at, r.client_id, r.actor, e.rows::float8, e.kept::float8,
        e.faults AS fault_count, e.bytes::float8, encode(e.sha256, 'hex') AS sha256
      FROM source_read r JOIN source_read_end e ON e.read_id = r.id
      WHERE r.source = 'statement' AND e.complete ${rest}`;
  }
}

/** The cursor of a list needs the ID. The API names it `read_id`. */
const withoutId = <T extends object>({ id: _, ...row }: T & { id: string }) => row;

function mappingOf(text: string, seesPeople: boolean): Mapping {
  try {
    const mapping = readMapping(text);
    return seesPeople ? mapping : withoutPeople(mapping);
  } catch (error) {
    throw toProblem(error);
  }
}

function toProblem(error: unknown): unknown {
  if (error instanceof MappingError) return badField('/mapping', error.message);
  if (error instanceof BrokenStatement) return badField('', `the file ${error.message}`);
  return error;
}

function badField(pointer: string, detail: string): Problem {
  return new Problem('invalid_request', { faults: [{ pointer, detail }] });
}
