import { Account, OneOf, PageSize, PageToken } from '../../http/validation/rules/query-rules';
import { Text } from '../../http/validation/rules/rules';
import { BOOLEAN, described, INSTANT, INTEGER, nullable, TEXT, UUID } from '../../platform/schema/fields';
import { nextPageToken, PageRequest } from '../../platform/schema/page';
import { Columns, PRESET_NAMES, STATEMENT_FIELDS } from './mapping';

export const DELIMITERS: Record<string, string> = { comma: ',', semicolon: ';', tab: '\t', bar: '|' };

/** Describes how to read a statement. */
export class StatementQuery {
  @Text({
    max: 8_192,
    description:
      'Maps fields to columns: JSON `{"<field>":"<column>"}` with names of the first line, or a preset ' +
      `(${PRESET_NAMES.join(', ')}), whose columns are named like our fields or the upstream's. ` +
      `Fields: ${STATEMENT_FIELDS.join(', ')}. Without \`audit:pii\`, fields that identify recipients ` +
      '(recipient, email, phone, handle, receiver) are not read.',
    example:
      '{"upstream_ref":"Reference ID","amount_usd":"Amount","issued_at":"Date","status":"State",' +
      '"recipient":"To"}',
  })
  mapping!: string;

  @Account('The upstream account whose transactions it lists. Default: `main`.') account?: string;

  @OneOf(Object.keys(DELIMITERS), 'Delimiter between columns. Default: `comma`.') delimiter?: string;

  @OneOf(['true', 'false'], 'Whether decimals have a comma: 1.234,50 instead of 1,234.50.')
  decimal_comma?: string;

  @Text({ max: 255, required: false, description: "The file's name.", example: 'march.csv' }) file?: string;
}

export class StatementSearch implements PageRequest {
  @PageSize() page_size?: number;

  @PageToken() page_token?: string;
}

/** A line that could not be used. */
class StatementFaultRecord {
  @described({ type: 'integer', minimum: 2 }, 'Its first line, from 1.') line!: number;
  @described(TEXT, 'The reason. It names the column, never its value.') reason!: string;
}

class StatementMapping {
  @described(
    {
      type: 'object',
      properties: Object.fromEntries(STATEMENT_FIELDS.map((field) => [field, { type: 'string' }])),
    },
    'The name of the column for each field.',
  )
  columns!: Columns;
  @described({ enum: Object.keys(DELIMITERS) }, 'Delimiter between columns.') delimiter!: string;
  @described(BOOLEAN, 'Whether decimals have a comma: 1.234,50.') decimal_comma!: boolean;
}

export class StatementRecord {
  @described(UUID, "The statement's ID, for `statement_id` of a new run.") read_id!: string;
  @described(TEXT, 'The upstream account.') account!: string;
  @nullable(TEXT, "The file's name. Contacts are masked.") file!: string | null;
  @described({ type: StatementMapping }, 'The mapping by which it was read.') mapping!: StatementMapping;
  @described(INSTANT, 'Time of the import.') imported_at!: Date;
  @nullable(UUID, 'The ID of the client that imported it.') client_id!: string | null;
  @nullable(TEXT, 'The person, where known.') actor!: string | null;
  @described(INTEGER, 'The number of lines, without the first and empty ones.') rows!: number;
  @described(INTEGER, 'The number of lines that are used.') kept!: number;
  @described(INTEGER, 'The number of lines that could not be used.') fault_count!: number;
  @described(INTEGER, 'Size in bytes.') bytes!: number;
  @described(TEXT, 'SHA-256 of the bytes, in hex.') sha256!: string;
}

export class StatementWithFaults extends StatementRecord {
  @described({ type: [StatementFaultRecord] }, 'By line. A new statement shows the first 100.')
  faults!: StatementFaultRecord[];
}

export class ImportedStatement extends StatementWithFaults {
  @described(
    { type: 'array', items: { enum: STATEMENT_FIELDS } },
    'Fields of the mapping that were not read. They identify recipients, and your key lacks `audit:pii`. ' +
      'Recipients are then not compared.',
  )
  ignored_fields!: string[];
  @described(BOOLEAN, 'Whether the same bytes were imported before, with the same mapping.')
  already_imported!: boolean;
}

export class StatementPage {
  @described({ type: [StatementRecord] }, 'Newest first.') statements!: StatementRecord[];
  @nextPageToken() next_page_token!: string | null;
}
