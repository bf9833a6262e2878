import { ApiProperty } from '@nestjs/swagger';
import { MAX_PAGE, PageRequest, USUAL_PAGE } from '../../history/records/page';
import { OneOf, PageSize, PageToken } from '../../http/validation/query-rules';
import { Text } from '../../http/validation/rules';
import { Columns, PRESET_NAMES, STATEMENT_FIELDS } from './mapping';

export const DELIMITERS: Record<string, string> = { comma: ',', semicolon: ';', tab: '\t', bar: '|' };

/** How a statement is to be read. */
export class StatementQuery {
  @Text({
    max: 8_192,
    description:
      `Which column is which field: JSON \`{"<field>":"<column>"}\` with the names of its first line, or one of ` +
      `${PRESET_NAMES.join(', ')}: its columns are called as our fields, or as the upstream's. ` +
      `Fields: ${STATEMENT_FIELDS.join(', ')}. Without \`audit:pii\`, those that say who was paid (recipient, email, phone, ` +
      'handle, receiver) are not read.',
    example:
      '{"upstream_ref":"Reference ID","amount_usd":"Amount","issued_at":"Date","status":"State","recipient":"To"}',
  })
  mapping!: string;

  @OneOf(Object.keys(DELIMITERS), 'What parts its columns; a comma unless said.')
  delimiter?: string;

  @OneOf(['true', 'false'], 'Whether it writes 1.234,50 for what is 1,234.50 elsewhere.')
  decimal_comma?: string;

  @Text({ max: 255, required: false, description: "The file's name.", example: 'march.csv' })
  file?: string;
}

export class StatementSearch implements PageRequest {
  @PageSize({ max: MAX_PAGE, usual: USUAL_PAGE })
  page_size?: number;

  @PageToken()
  page_token?: string;
}

const nullable = (type: 'string', description: string, more: object = {}) =>
  ApiProperty({ anyOf: [{ type, ...more }, { type: 'null' }], description });

/** A line that could not be used. */
export class StatementFaultRecord {
  @ApiProperty({ type: 'integer', minimum: 2, description: 'Where it begins, from 1.' }) line!: number;
  @ApiProperty({ type: 'string', description: 'Why; it names the column, never its value.' }) reason!: string;
}

export class StatementMapping {
  @ApiProperty({
    type: 'object',
    properties: Object.fromEntries(STATEMENT_FIELDS.map((field) => [field, { type: 'string' }])),
    description: 'The column that is the field, by its name.',
  })
  columns!: Columns;
  @ApiProperty({ enum: Object.keys(DELIMITERS), description: 'What parts its columns.' }) delimiter!: string;
  @ApiProperty({ type: 'boolean', description: 'Whether it writes 1.234,50.' }) decimal_comma!: boolean;
}

export class StatementRecord {
  @ApiProperty({ type: 'string', format: 'uuid', description: 'To compare with it: `statement_id` of a new run.' })
  read_id!: string;
  @nullable('string', "The file's name, contacts masked.") file!: string | null;
  @ApiProperty({ type: StatementMapping, description: 'How it was read.' }) mapping!: StatementMapping;
  @ApiProperty({ type: 'string', format: 'date-time', description: 'When it was handed in.' }) imported_at!: Date;
  @nullable('string', 'The client that handed it in.', { format: 'uuid' }) client_id!: string | null;
  @nullable('string', 'The person, where known.') actor!: string | null;
  @ApiProperty({ type: 'integer', description: 'Its lines but the first and empty ones.' }) rows!: number;
  @ApiProperty({ type: 'integer', description: 'Those that are used.' }) kept!: number;
  @ApiProperty({ type: 'integer', description: 'Those that could not be used.' }) fault_count!: number;
  @ApiProperty({ type: 'integer', description: 'Its size.' }) bytes!: number;
  @ApiProperty({ type: 'string', description: 'SHA-256 of its bytes, in hex.' }) sha256!: string;
}

export class StatementWithFaults extends StatementRecord {
  @ApiProperty({ type: [StatementFaultRecord], description: 'By line; of a new statement the first 100.' })
  faults!: StatementFaultRecord[];
}

export class ImportedStatement extends StatementWithFaults {
  @ApiProperty({
    type: 'array',
    items: { enum: STATEMENT_FIELDS },
    description:
      'Fields of the mapping that were not read: they say who was paid, and your key lacks `audit:pii`. Recipients are not ' +
      'compared then.',
  })
  ignored_fields!: string[];
  @ApiProperty({ type: 'boolean', description: 'The same bytes were handed in before, with the same mapping.' })
  already_imported!: boolean;
}

export class StatementPage {
  @ApiProperty({ type: [StatementRecord], description: 'Newest first.' }) statements!: StatementRecord[];
  @nullable('string', 'For `page_token`; null on the last page.') next_page_token!: string | null;
}
